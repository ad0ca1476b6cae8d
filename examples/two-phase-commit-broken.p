// Two-phase commit: a coordinator asks two participants to vote, and tells them what was decided. It may give up waiting.
//
// What to see: `assert`. The coordinator is in a hurry: the first yes is enough for it. The chart shows the participant that
// says no. It also gets an event that nobody thought of: `unhandled`.
//
// expect: assert unsafe
// expect: unhandled unsafe
// expect: * safe

event ePrepare: machine;
event eYes;
event eNo;
event eCommit;
event eAbort;
event eCommitted;
event eAborted;

machine Coordinator {
  var participants: seq[machine];
  var yes: int;
  start state Init {
    entry {
      participants += (0, new Participant());
      participants += (1, new Participant());
      send participants[0], ePrepare, this;
      send participants[1], ePrepare, this;
      goto Waiting;
    }
    defer eYes, eNo;
  }
  state Waiting {
    on eYes do {
      yes = yes + 1;
      if (2 * yes >= sizeof(participants)) { Decide(eCommit); goto Decided; }
    }
    on eNo do { Decide(eAbort); goto Decided; }
    // It takes too long.
    on null do { Decide(eAbort); goto Decided; }
  }
  state Decided {
    ignore eYes, eNo;
  }
  fun Decide(decision: event) {
    send participants[0], decision;
    send participants[1], decision;
  }
}

machine Participant {
  start state Idle {
    on ePrepare do (coordinator: machine) {
      if ($) { send coordinator, eYes; goto Prepared; }
      else { announce eAborted; send coordinator, eNo; goto Aborted; }
    }
  }
  state Prepared {
    on eCommit do { announce eCommitted; goto Committed; }
    on eAbort do { announce eAborted; goto Aborted; }
  }
  state Committed {
    ignore eCommit;
  }
  state Aborted {
    ignore eAbort;
  }
}

spec Atomicity observes eCommitted, eAborted {
  var committed, aborted: bool;
  start state Watching {
    on eCommitted do { committed = true; assert !aborted, "one commits, one aborts"; }
    on eAborted do { aborted = true; assert !committed, "one commits, one aborts"; }
  }
}

test tcCommit [main=Coordinator]: assert Atomicity in { Coordinator, Participant };
