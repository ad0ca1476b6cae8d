// German's cache protocol with three clients: a directory grants shared or exclusive access to a line.
//
// Before it grants exclusive access, the directory invalidates all copies and waits for the answers; before it grants shared
// access, it does so if somebody has an exclusive copy. The spec watches who holds what.
//
// What to see: coherence for every schedule.
//
// expect: * safe

event eShared: machine;
event eExclusive: machine;
event eInvalidate;
event eInvalidated: machine;
event eGrantShared;
event eGrantExclusive;
event eHoldShared: machine;
event eHoldExclusive: machine;
event eDrop: machine;

machine Directory {
  var holders: set[machine];
  var exclusive: bool;
  var client: machine;
  var wants: bool;
  start state Init {
    entry {
      new Client(this);
      new Client(this);
      new Client(this);
      goto Idle;
    }
    defer eShared, eExclusive;
  }
  state Idle {
    on eShared do (by: machine) { client = by; wants = false; goto Serving; }
    on eExclusive do (by: machine) { client = by; wants = true; goto Serving; }
  }
  state Serving {
    defer eShared, eExclusive;
    entry {
      var holder: machine;
      if (wants || exclusive) {
        foreach (holder in holders) { send holder, eInvalidate; }
      }
      if (!(wants || exclusive) || sizeof(holders) == 0) { goto Granting; }
    }
    on eInvalidated do (by: machine) {
      holders -= (by);
      if (sizeof(holders) == 0) { exclusive = false; goto Granting; }
    }
  }
  state Granting {
    defer eShared, eExclusive;
    entry {
      holders += (client);
      if (wants) { exclusive = true; send client, eGrantExclusive; }
      else { send client, eGrantShared; }
      goto Idle;
    }
  }
}

machine Client {
  var directory: machine;
  start state Init {
    entry (owner: machine) { directory = owner; goto Invalid; }
  }
  state Invalid {
    entry {
      if ($) { send directory, eShared, this; }
      else { send directory, eExclusive, this; }
    }
    on eGrantShared goto Shared;
    on eGrantExclusive goto Exclusive;
  }
  state Shared {
    entry { announce eHoldShared, this; }
    on eInvalidate do Drop;
  }
  state Exclusive {
    entry { announce eHoldExclusive, this; }
    on eInvalidate do Drop;
  }
  fun Drop() {
    announce eDrop, this;
    send directory, eInvalidated, this;
    goto Invalid;
  }
}

spec Coherence observes eHoldShared, eHoldExclusive, eDrop {
  var shared, exclusive: int;
  start state Watching {
    on eHoldShared do { assert exclusive == 0; shared = shared + 1; }
    on eHoldExclusive do { assert shared == 0 && exclusive == 0; exclusive = exclusive + 1; }
    on eDrop do {
      if (exclusive > 0) { exclusive = exclusive - 1; }
      else { shared = shared - 1; }
    }
  }
}

test tcGerman [main=Directory]: assert Coherence in { Directory, Client };
