bool a[9], b[9];
active proctype t0() { do :: a[0] = 1; b[0] = 1; assert(a[0]); a[0] = 0; b[0] = 0 od }
active proctype t1() { do :: a[1] = 1; b[1] = 1; assert(a[1]); a[1] = 0; b[1] = 0 od }
active proctype t2() { do :: a[2] = 1; b[2] = 1; assert(a[2]); a[2] = 0; b[2] = 0 od }
active proctype t3() { do :: a[3] = 1; b[3] = 1; assert(a[3]); a[3] = 0; b[3] = 0 od }
active proctype t4() { do :: a[4] = 1; b[4] = 1; assert(a[4]); a[4] = 0; b[4] = 0 od }
active proctype t5() { do :: a[5] = 1; b[5] = 1; assert(a[5]); a[5] = 0; b[5] = 0 od }
active proctype t6() { do :: a[6] = 1; b[6] = 1; assert(a[6]); a[6] = 0; b[6] = 0 od }
active proctype t7() { do :: a[7] = 1; b[7] = 1; assert(a[7]); a[7] = 0; b[7] = 0 od }
active proctype t8() { do :: a[8] = 1; b[8] = 1; assert(a[8]); a[8] = 0; b[8] = 0 od }
