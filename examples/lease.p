// A server lends one lease to two clients in turn, and takes it back when its time is over.
//
// What to see: the server waits until the holder has answered before it lends the lease again, and the proof is for every
// schedule. `lease-broken.p` does not wait.
//
// expect: * safe

event eAsk: machine;
event eGrant;
event eExpired;
event eReturned;
event eHold;
event eDrop;

machine Server {
  var holder: machine;
  start state Init {
    entry {
      new Client(this);
      new Client(this);
      goto Free;
    }
    defer eAsk;
  }
  state Free {
    on eAsk do (client: machine) {
      holder = client;
      send holder, eGrant;
      goto Lent;
    }
  }
  state Lent {
    defer eAsk;
    on null do {
      send holder, eExpired;
      goto TakingBack;
    }
  }
  state TakingBack {
    defer eAsk;
    on eReturned goto Free;
  }
}

machine Client {
  var server: machine;
  start state Init {
    entry (owner: machine) { server = owner; goto Asking; }
  }
  state Asking {
    entry { send server, eAsk, this; }
    on eGrant goto Holding;
  }
  state Holding {
    entry { announce eHold; }
    on eExpired do { announce eDrop; send server, eReturned; goto Asking; }
  }
}

spec OneHolder observes eHold, eDrop {
  var holders: int;
  start state Watching {
    on eHold do {
      holders = holders + 1;
      assert holders < 2, "two clients hold the lease";
    }
    on eDrop do { holders = holders - 1; }
  }
}

test tcLease [main=Server]: assert OneHolder in { Server, Client };
