// Leader election in a ring: every node sends its number around, passes on larger ones, and drops smaller ones.
//
// What to see: at most one leader, it is the node with the largest number, and some day there is one.
//
// expect: * safe

event eNeighbour: machine;
event eNumber: int;
event eLeader: int;
event eStart;

machine Ring {
  start state Init {
    entry {
      var nodes: seq[machine];
      nodes += (0, new Node(2));
      nodes += (1, new Node(3));
      nodes += (2, new Node(1));
      announce eStart;
      send nodes[0], eNeighbour, nodes[1];
      send nodes[1], eNeighbour, nodes[2];
      send nodes[2], eNeighbour, nodes[0];
    }
  }
}

machine Node {
  var number: int;
  var next: machine;
  start state Init {
    entry (own: int) { number = own; }
    defer eNumber;
    on eNeighbour do (other: machine) {
      next = other;
      send next, eNumber, number;
      goto Running;
    }
  }
  state Running {
    on eNumber do (other: int) {
      if (other > number) { send next, eNumber, other; }
      if (other == number) { announce eLeader, number; goto Leading; }
    }
  }
  state Leading { }
}

spec OneLeader observes eStart, eLeader {
  start cold state Before {
    on eStart goto Electing;
  }
  hot state Electing {
    on eLeader do (number: int) {
      assert number == 3, "the leader is not the largest";
      goto Elected;
    }
  }
  cold state Elected {
    on eLeader do { assert false, "two leaders"; }
  }
}

test tcElection [main=Ring]: assert OneLeader in { Ring, Node };
