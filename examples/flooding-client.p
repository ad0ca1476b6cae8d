// A client that sends as fast as it can. The server first has to hear who the client is, and defers what comes before.
//
// What to see: the queue of the server has no bound, so looking at queues of 1, 2, 3 events never comes to an end. Tepui
// proves that `eLogin` comes first and comes once, from the order in which events occur first and last in the queue.
//
// expect: * safe

event eLogin;
event eData: int;

machine Client {
  var server: machine;
  start state Init {
    entry {
      server = new Server();
      send server, eLogin;
      goto Flooding;
    }
  }
  state Flooding {
    entry {
      if ($) { send server, eData, 1; }
      else { send server, eData, 2; }
      goto Flooding;
    }
  }
}

machine Server {
  start state Waiting {
    defer eData;
    on eLogin goto Serving;
  }
  state Serving {
    // No second eLogin is expected here.
    on eData do (value: int) { assert value == 1 || value == 2; }
  }
}

test tcFlood [main=Client]: { Client, Server };
