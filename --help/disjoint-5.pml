bool a[5], b[5];
active proctype t0() { do :: a[0] = 1; b[0] = 1; assert(a[0]); a[0] = 0; b[0] = 0 od }
active proctype t1() { do :: a[1] = 1; b[1] = 1; assert(a[1]); a[1] = 0; b[1] = 0 od }
active proctype t2() { do :: a[2] = 1; b[2] = 1; assert(a[2]); a[2] = 0; b[2] = 0 od }
active proctype t3() { do :: a[3] = 1; b[3] = 1; assert(a[3]); a[3] = 0; b[3] = 0 od }
active proctype t4() { do :: a[4] = 1; b[4] = 1; assert(a[4]); a[4] = 0; b[4] = 0 od }
