// A printer that defers `eCancel` while it prints, and has no way out of printing when the paper is empty.
//
// What to see: `deadlock`. The user waits in a `receive` for an answer that stays behind in a queue. The chart ends with who
// waits for what, and what is left in the queues.
//
// expect: deadlock unsafe
// expect: * safe

event ePrint: machine;
event eCancel: machine;
event ePage;
event eDone;
event eCancelled;

machine User {
  start state Init {
    entry {
      var printer: machine;
      printer = new Printer();
      send printer, ePrint, this;
      send printer, eCancel, this;
      receive {
        case eDone: { }
        case eCancelled: { }
      }
    }
    ignore eDone, eCancelled;
  }
}

machine Printer {
  var user: machine;
  var pages: int;
  start state Idle {
    on ePrint goto Printing;
    on eCancel do (by: machine) { send by, eCancelled; }
  }
  state Printing {
    defer eCancel;
    entry (by: machine) {
      user = by;
      pages = 0;
      send this, ePage;
    }
    on ePage do {
      if ($) {
        // Out of paper: nobody sends ePage again, and nobody leaves this state.
        return;
      }
      pages = pages + 1;
      if (pages < 3) { send this, ePage; }
      else { send user, eDone; goto Idle; }
    }
  }
}

test tcPrinter [main=User]: { User, Printer };
