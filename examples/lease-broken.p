// A server lends one lease to two clients in turn, and takes it back when its time is over.
//
// What to see: `assert`. When time is over, the server tells the holder and gives the lease to the other one at once. The
// holder has not heard of it yet: two clients hold the lease. `lease.p` waits for the answer of the holder.
//
// expect: assert unsafe
// expect: * safe

event eAsk: machine;
event eGrant;
event eExpired;
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
      goto Free;
    }
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
    on eExpired do { announce eDrop; goto Asking; }
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
