bool g[8];
active proctype main() {
  if :: g[0] = 1 :: skip fi;
  if :: g[1] = 1 :: skip fi;
  if :: g[2] = 1 :: skip fi;
  if :: g[3] = 1 :: skip fi;
  if :: g[4] = 1 :: skip fi;
  if :: g[5] = 1 :: skip fi;
  if :: g[6] = 1 :: skip fi;
  if :: g[7] = 1 :: skip fi;
  if :: g[0] -> g[0] = !g[1] :: else fi;
  if :: g[1] -> g[1] = !g[2] :: else fi;
  if :: g[2] -> g[2] = !g[3] :: else fi;
  if :: g[3] -> g[3] = !g[4] :: else fi;
  if :: g[4] -> g[4] = !g[5] :: else fi;
  if :: g[5] -> g[5] = !g[6] :: else fi;
  if :: g[6] -> g[6] = !g[7] :: else fi;
  if :: g[7] -> g[7] = !g[0] :: else fi;
  assert(!g[0] || !g[1] || !g[2] || !g[3] || !g[4] || !g[5] || !g[6] || !g[7])
}
