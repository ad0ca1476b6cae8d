// A client that asks through a network which may lose messages, and does not ask again.
//
// What to see: `hot-at-end`. Every event that is lost is lost in one step, and then nothing is left that could move, while
// the spec still waits for the answer. `lost-message-fixed.p` asks again.
//
// expect: hot-at-end unsafe
// expect: * safe

event eRequest: machine;
event eResponse;

machine Client {
  start state Ask {
    entry {
      send new Network(), eRequest, this;
    }
    on eResponse goto Done;
  }
  state Done {
    entry { }
  }
}

// Passes a request on to the server, or loses it.
machine Network {
  var server: machine;
  start state Running {
    entry { server = new Server(); }
    on eRequest do (client: machine) {
      if ($) { send server, eRequest, client; }
    }
  }
}

machine Server {
  start state Serving {
    on eRequest do (client: machine) { send client, eResponse; }
  }
}

spec EveryRequestIsAnswered observes eRequest, eResponse {
  start cold state Idle {
    on eRequest goto Asked;
    ignore eResponse;
  }
  hot state Asked {
    ignore eRequest;
    on eResponse goto Idle;
  }
}

test tcLost [main=Client]: assert EveryRequestIsAnswered in { Client, Network, Server };
