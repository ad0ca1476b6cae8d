/* The driver of examples/driver3.bp with 4 adders and a stopper, without procedures. */
bool stopping, stopped, idle;
byte pending = 1;

active[4] proctype adder() {
  bool last, entered;
  pending = pending + 1;
  if
  :: stopping -> entered = false
  :: !stopping -> entered = true
  fi;
  if
  :: entered -> assert(!stopped)
  :: !entered
  fi;
  atomic { pending = pending - 1; last = (pending == 0) }
  if
  :: last -> idle = true
  :: !last
  fi
}

active proctype stopper() {
  bool first, last;
  atomic { first = !stopping; stopping = true }
  if
  :: first ->
     atomic { pending = pending - 1; last = (pending == 0) }
     if
     :: last -> idle = true
     :: !last
     fi
  :: !first
  fi;
  idle;
  stopped = true
}
