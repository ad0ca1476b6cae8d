/* Peterson's algorithm for three threads, as in peterson3.bp: one step for each look at another thread. */
byte room[3], last[3], busy;

proctype worker(byte me; byte left; byte right) {
  do
  :: room[me] = 1;
     last[1] = me;
     (room[left] == 0 || last[1] != me);
     (room[right] == 0 || last[1] != me);
     room[me] = 2;
     last[2] = me;
     (room[left] != 2 || last[2] != me);
     (room[right] != 2 || last[2] != me);
     assert(busy == 0);
     busy = 1;
     busy = 0;
     room[me] = 0
  od
}

init { atomic { run worker(0, 1, 2); run worker(1, 2, 0); run worker(2, 0, 1) } }
