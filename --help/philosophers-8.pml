bool fork[8], eating[8];
active proctype p0() { do :: atomic { !fork[0] -> fork[0] = 1 } atomic { !fork[1] -> fork[1] = 1 } eating[0] = 1; assert(!eating[1]); eating[0] = 0; fork[1] = 0; fork[0] = 0 od }
active proctype p1() { do :: atomic { !fork[1] -> fork[1] = 1 } atomic { !fork[2] -> fork[2] = 1 } eating[1] = 1; assert(!eating[2]); eating[1] = 0; fork[2] = 0; fork[1] = 0 od }
active proctype p2() { do :: atomic { !fork[2] -> fork[2] = 1 } atomic { !fork[3] -> fork[3] = 1 } eating[2] = 1; assert(!eating[3]); eating[2] = 0; fork[3] = 0; fork[2] = 0 od }
active proctype p3() { do :: atomic { !fork[3] -> fork[3] = 1 } atomic { !fork[4] -> fork[4] = 1 } eating[3] = 1; assert(!eating[4]); eating[3] = 0; fork[4] = 0; fork[3] = 0 od }
active proctype p4() { do :: atomic { !fork[4] -> fork[4] = 1 } atomic { !fork[5] -> fork[5] = 1 } eating[4] = 1; assert(!eating[5]); eating[4] = 0; fork[5] = 0; fork[4] = 0 od }
active proctype p5() { do :: atomic { !fork[5] -> fork[5] = 1 } atomic { !fork[6] -> fork[6] = 1 } eating[5] = 1; assert(!eating[6]); eating[5] = 0; fork[6] = 0; fork[5] = 0 od }
active proctype p6() { do :: atomic { !fork[6] -> fork[6] = 1 } atomic { !fork[7] -> fork[7] = 1 } eating[6] = 1; assert(!eating[7]); eating[6] = 0; fork[7] = 0; fork[6] = 0 od }
active proctype p7() { do :: atomic { !fork[0] -> fork[0] = 1 } atomic { !fork[7] -> fork[7] = 1 } eating[7] = 1; assert(!eating[0]); eating[7] = 0; fork[7] = 0; fork[0] = 0 od }
