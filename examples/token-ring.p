// Four nodes in a ring pass a token. Whoever has it may work; whoever wants to work again waits for it.
//
// What to see: mutual exclusion for every schedule, and every node that wants to work some day does: the spec `Served` is
// about what must happen, not about what must not.
//
// expect: * safe

event eNeighbour: machine;
event eToken;
event eWork: int;
event eRest: int;
event eWant;

machine Ring {
  var nodes: seq[machine];
  start state Init {
    entry {
      var i: int;
      while (i < 4) {
        nodes += (i, new Node(i));
        i = i + 1;
      }
      i = 0;
      while (i < 4) {
        send nodes[i], eNeighbour, nodes[(i + 1) % 4];
        i = i + 1;
      }
      send nodes[0], eToken;
    }
  }
}

machine Node {
  var number: int;
  var next: machine;
  start state Init {
    entry (own: int) { number = own; }
    on eNeighbour do (other: machine) {
      next = other;
      if (number == 0) { announce eWant; }
      goto Waiting;
    }
    defer eToken;
  }
  state Waiting {
    on eToken goto Working;
  }
  state Working {
    entry {
      announce eWork, number;
      announce eRest, number;
      send next, eToken;
      goto Waiting;
    }
  }
}

spec OneWorks observes eWork, eRest {
  var working: bool;
  start state Watching {
    on eWork do { assert !working, "two nodes work"; working = true; }
    on eRest do { working = false; }
  }
}

spec Served observes eWant, eWork {
  start cold state Idle {
    on eWant goto Wanting;
    ignore eWork;
  }
  hot state Wanting {
    ignore eWant;
    on eWork do (number: int) { if (number == 0) { goto Idle; } }
  }
}

test tcRing [main=Ring]: assert OneWorks, Served in { Ring, Node };
