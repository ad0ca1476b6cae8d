bool fork[4], eating[4];
active proctype p0() { do :: atomic { !fork[0] -> fork[0] = 1 } atomic { !fork[1] -> fork[1] = 1 } eating[0] = 1; assert(!eating[1]); eating[0] = 0; fork[1] = 0; fork[0] = 0 od }
active proctype p1() { do :: atomic { !fork[1] -> fork[1] = 1 } atomic { !fork[2] -> fork[2] = 1 } eating[1] = 1; assert(!eating[2]); eating[1] = 0; fork[2] = 0; fork[1] = 0 od }
active proctype p2() { do :: atomic { !fork[2] -> fork[2] = 1 } atomic { !fork[3] -> fork[3] = 1 } eating[2] = 1; assert(!eating[3]); eating[2] = 0; fork[3] = 0; fork[2] = 0 od }
active proctype p3() { do :: atomic { !fork[0] -> fork[0] = 1 } atomic { !fork[3] -> fork[3] = 1 } eating[3] = 1; assert(!eating[0]); eating[3] = 0; fork[3] = 0; fork[0] = 0 od }
