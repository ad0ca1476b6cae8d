bool filled[5], cell[5];
active proctype source() { do :: !filled[0] -> cell[0] = 1; filled[0] = 1 od }
active proctype s0() { bool x, y; do :: filled[0] -> x = cell[0]; filled[0] = 0; y = !x; y = !y; x = y; !filled[1]; cell[1] = x; filled[1] = 1; x = 0; y = 0 od }
active proctype s1() { bool x, y; do :: filled[1] -> x = cell[1]; filled[1] = 0; y = !x; y = !y; x = y; !filled[2]; cell[2] = x; filled[2] = 1; x = 0; y = 0 od }
active proctype s2() { bool x, y; do :: filled[2] -> x = cell[2]; filled[2] = 0; y = !x; y = !y; x = y; !filled[3]; cell[3] = x; filled[3] = 1; x = 0; y = 0 od }
active proctype s3() { bool x, y; do :: filled[3] -> x = cell[3]; filled[3] = 0; y = !x; y = !y; x = y; !filled[4]; cell[4] = x; filled[4] = 1; x = 0; y = 0 od }
active proctype sink() { do :: filled[4] -> assert(cell[4]); filled[4] = 0 od }
