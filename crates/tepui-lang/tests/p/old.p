/* The old dialect. */
event Unit assert 1;
event Ask assume 2: machine;
event Reply: int;
enum Many { ZERO = 0, THREE = 3 }
machine Main assume 4 {
  var worker: machine;
  var count: int;
  start state Init {
    entry { worker = new Worker(this); raise Unit; }
    on Unit push Works;
    on Reply do { count = count + 1; assert(count < 10); }
  }
  state Works {
    entry { send worker, Ask, this; if ($) { pop; } raise halt; }
    defer Reply;
  }
}
machine Worker {
  var boss: machine;
  start state Serves {
    entry (m: machine) { boss = m; }
    on Ask do (from: machine) { if (from == boss) send from, Reply, 1; }
  }
}
