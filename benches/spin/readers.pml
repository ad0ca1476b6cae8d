/* The reader-writer lock of examples/readers.bp with 10 readers and 3 writers. */
bool data, counting, writing;
byte readers;
active[10] proctype reader() {
  do
  :: atomic { !counting -> counting = true }
     readers = readers + 1;
     if
     :: readers == 1 -> atomic { !data -> data = true }
     :: readers != 1
     fi;
     counting = false;
     assert(!writing);
     atomic { !counting -> counting = true }
     readers = readers - 1;
     if
     :: readers == 0 -> data = false
     :: readers != 0
     fi;
     counting = false
  od
}
active[3] proctype writer() {
  do
  :: atomic { !data -> data = true }
     writing = true;
     assert(readers <= 1);
     writing = false;
     data = false
  od
}
