bool filled[8], cell[8];
active proctype source() { do :: !filled[0] -> cell[0] = 1; filled[0] = 1 od }
active proctype s0() { bool x, y; do :: filled[0] -> x = cell[0]; filled[0] = 0; y = !x; y = !y; x = y; !filled[1]; cell[1] = x; filled[1] = 1; x = 0; y = 0 od }
active proctype s1() { bool x, y; do :: filled[1] -> x = cell[1]; filled[1] = 0; y = !x; y = !y; x = y; !filled[2]; cell[2] = x; filled[2] = 1; x = 0; y = 0 od }
active proctype s2() { bool x, y; do :: filled[2] -> x = cell[2]; filled[2] = 0; y = !x; y = !y; x = y; !filled[3]; cell[3] = x; filled[3] = 1; x = 0; y = 0 od }
active proctype s3() { bool x, y; do :: filled[3] -> x = cell[3]; filled[3] = 0; y = !x; y = !y; x = y; !filled[4]; cell[4] = x; filled[4] = 1; x = 0; y = 0 od }
active proctype s4() { bool x, y; do :: filled[4] -> x = cell[4]; filled[4] = 0; y = !x; y = !y; x = y; !filled[5]; cell[5] = x; filled[5] = 1; x = 0; y = 0 od }
active proctype s5() { bool x, y; do :: filled[5] -> x = cell[5]; filled[5] = 0; y = !x; y = !y; x = y; !filled[6]; cell[6] = x; filled[6] = 1; x = 0; y = 0 od }
active proctype s6() { bool x, y; do :: filled[6] -> x = cell[6]; filled[6] = 0; y = !x; y = !y; x = y; !filled[7]; cell[7] = x; filled[7] = 1; x = 0; y = 0 od }
active proctype sink() { do :: filled[7] -> assert(cell[7]); filled[7] = 0 od }
