// A program that uses everything that the language of today has.
type tPair = (first: int, second: bool);
type tList = seq[tPair];
type tOpaque;
enum Colour { RED, GREEN, BLUE }
enum Level { LOW = 3, HIGH = 7 }
event eAsk: (from: Client, what: tPair);
event eAnswer: any;
event eGo;
event eNumber: int;
event eStop;
eventset Words = { eGo, eNumber };
interface IServer((int, bool)) receives eAsk, eStop;
param pCount: int;
param pLoud: bool;

fun Twice(x: int): int { return x * 2; }
fun Foreign(x: int): Colour;
fun Log(s: string);
fun Tell(m: machine, n: int) { if (n > 0) { send m, eNumber, n; } }

machine Client receives eAnswer, eGo, eNumber; sends eAsk, eGo, eNumber, eStop; {
  var server: IServer;
  var list: tList;
  var names: map[int, string];
  var known: set[int];
  var pair: tPair;
  var colour: Colour;
  var total: int;
  var ratio: float;
  var opaque: tOpaque;
  var whatever: any;

  start state Init {
    entry (number: int) {
      var i: int;
      server = new IServer(number, true);
      colour = Foreign(1);
      Log("begins");
      names[0] = "zero";
      names += (1, "one");
      known += (7);
      foreach (i in known) { total = total + i; }
      while (i < 3) { i = i + 1; if (i == 2) { continue; } if (total > 100) break; }
      list += (0, (first = 1, second = !false));
      list[0].first = Twice(list[0].first) - -1 % 2;
      pair = list[0];
      whatever = pair;
      pair = whatever as tPair;
      ratio = 1.5 * (total to float) + .5;
      total = ratio to int;
      assert sizeof(list) == 1 && (0 in names) || $, format("{0} of {{1}}", total);
      send this, eGo;
      goto Asks, (1, true);
    }
    exit { total = 0; }
  }

  state Asks {
    entry (begin: (int, bool)) {
      if (begin.1 && choose(3) < 2) { send server, eAsk, (from = this, what = pair); }
      announce eNumber, begin.0;
      print format("asked {0}", begin.0);
    }
    on eGo do { Tell(this, choose(known)); }
    on eNumber goto Waits with (n: int) { names -= n; known -= n; }
    defer eAnswer;
    on null do { raise eNumber, 0 + pCount; }
  }

  state Waits {
    entry Wait;
    ignore eGo, eNumber;
    on eAnswer do (answer: any) { if (answer == null) { raise halt; } }
  }

  fun Wait() {
    var keys_: seq[int];
    keys_ = keys(names);
    keys_ = default(seq[int]);
    receive {
      case eAnswer: (answer: any) { whatever = answer; }
      case null: { list -= 0; }
    }
    send server, eStop;
  }
}

machine Server receives eAsk, eStop; sends eAnswer; {
  var last: (int, bool);
  start state Serves {
    entry (first: (int, bool)) { last = first; last.0 = last.0; }
    on eAsk do Answer;
    on eStop goto Ends;
  }
  state Ends { ignore eAsk, eStop; }
  fun Answer(question: (from: Client, what: tPair)) {
    if (question.what.second && $$) { send question.from, eAnswer, question.what; return; }
    send question.from, eAnswer, null;
  }
}

machine Main {
  start state Init { entry { new Client(pCount); if (pLoud) { new Client(2); } } }
}

spec Polite observes eAsk, eAnswer, eNumber {
  var open: int;
  start cold state Quiet { on eAsk goto Asked; ignore eAnswer, eNumber; }
  hot state Asked {
    entry { open = open + 1; assert open < 5, "too many"; }
    on eAsk do { open = open + 1; }
    on eAnswer do (answer: any) { open = open - 1; if (open == 0) { goto Quiet; } }
    ignore eNumber;
  }
}

scenario Numbers observes eNumber { start state S { on eNumber do (n: int) { } } }

module clients = { Client };
module servers = { Server -> IServer };
test plain [main=Main]: union clients, servers, { Main };
test checked [main=Main]: (assert Polite in (union clients, servers, { Main }));
test param (pCount in [1, -2], pLoud in [true, false]) assume (pCount > 0 || pLoud) many [main=Main]: union clients, servers, { Main };
implementation shipped [main=Main]: compose clients, servers, { Main };
