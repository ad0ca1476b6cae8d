// A client that asks through a network which may lose messages, and asks again when a timer says so.
//
// What to see: the queues of network and client have no bound, since the timer may be faster than they are; the proof holds
// for queues of any length. A message that is sent again and again is not lost for ever: the choice of the network is
// written `$$`, which is fair. With `$` it is not, and Tepui shows the circle on which every message is lost.
//
// expect: * safe

event eRequest: machine;
event eResponse;
event eTick;
event eStop;

machine Client {
  var network, timer: machine;
  start state Init {
    entry {
      network = new Network();
      timer = new Timer(this);
      goto Asking;
    }
    defer eTick;
  }
  state Asking {
    entry { send network, eRequest, this; }
    on eTick goto Asking;
    on eResponse goto Done;
  }
  state Done {
    entry { send timer, eStop; }
    ignore eTick, eResponse;
  }
}

machine Timer {
  var client: machine;
  start state Running {
    entry (owner: machine) { client = owner; }
    on null do { send client, eTick; }
    on eStop goto Stopped;
  }
  state Stopped { }
}

machine Network {
  var server: machine;
  start state Running {
    entry { server = new Server(); }
    on eRequest do (client: machine) {
      if ($$) { send server, eRequest, client; }
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
    on eResponse goto Answered;
  }
  cold state Answered {
    ignore eRequest, eResponse;
  }
}

test tcRetry [main=Client]: assert EveryRequestIsAnswered in { Client, Timer, Network, Server };
