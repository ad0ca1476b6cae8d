"""Programs of growing size, each for Tepui and for SPIN: the same threads, the same steps."""


def ring(count):
    """Stations pass a token on; who has it works on something that is its own."""
    first = ", ".join(["1"] + ["0"] * (count - 1))
    ours = f"""const N = {count};
decl token[N] := [{first}];
decl busy[N];
void station(i: 0..N-1) {{
  while (1) {{
    wait(token[i]);
    busy[i] := 1;
    assert(!busy[(i + 1) % N]) "alone";
    busy[i] := 0;
    token[i] := 0;
    token[(i + 1) % N] := 1;
  }}
}}
void main() {{ for i in 0..N-1 {{ thread station(i); }} }}
"""
    theirs = f"""#define N {count}
bool token[N], busy[N];
proctype station(byte i) {{
  do
  :: token[i] -> busy[i] = true; assert(!busy[(i + 1) % N]); busy[i] = false; token[i] = false; token[(i + 1) % N] = true
  od
}}
init {{ byte i; token[0] = true; atomic {{ for (i : 0 .. N - 1) {{ run station(i) }} }} }}
"""
    return ours, theirs


def election(count):
    """Leader election in a ring, after Chang and Roberts: the largest number comes back to its sender, and no other."""
    numbers = [(3 * place) % count + 1 if count % 3 else count - place for place in range(count)]
    ours = f"""const N = {count};
kind Process = 0..N-1;
decl number[N]: 1..N := [{", ".join(map(str, numbers))}];
decl filled[N];
decl slot[N]: 0..N;
decl leaders: 0..N;
void process(i: Process) {{
  decl m: 0..N;
  atomic {{ wait(!filled[(i + 1) % N]); slot[(i + 1) % N], filled[(i + 1) % N] := number[i], 1; }}
  while (1) {{
    atomic {{ wait(filled[i]); m, filled[i] := slot[i], 0; }}
    if (m = number[i]) {{
      leaders := leaders + 1;
      assert(leaders = 1 & m = N) "largest";
    }}
    if (m > number[i]) {{
      atomic {{ wait(!filled[(i + 1) % N]); slot[(i + 1) % N], filled[(i + 1) % N] := m, 1; }}
    }}
    m := 0;
  }}
}}
void main() {{ for i in Process {{ thread process(i); }} }}
"""
    start = " ".join(f"number[{place}] = {number};" for place, number in enumerate(numbers))
    theirs = f"""#define N {count}
byte number[N], slot[N], leaders;
bool filled[N];
proctype process(byte i) {{
  byte m;
  atomic {{ !filled[(i + 1) % N] -> slot[(i + 1) % N] = number[i]; filled[(i + 1) % N] = true }};
  do
  :: atomic {{ filled[i] -> m = slot[i]; filled[i] = false }};
     if
     :: m == number[i] -> leaders = leaders + 1; assert(leaders == 1 && m == N)
     :: m > number[i] -> atomic {{ !filled[(i + 1) % N] -> slot[(i + 1) % N] = m; filled[(i + 1) % N] = true }}
     :: m < number[i]
     fi;
     m = 0
  od
}}
init {{ byte i; {start} atomic {{ for (i : 0 .. N - 1) {{ run process(i) }} }} }}
"""
    return ours, theirs


def buffer(size):
    """A bounded buffer with two producers and two consumers; what comes out went in before it, and in its order."""
    ours = f"""const S = {size};
decl item[S]: 0..1;
decl head, tail: 0..S-1;
decl count: 0..S;
decl put, taken: 0..1;
void producer() {{
  while (1) {{
    atomic {{ wait(count < S); item[tail], tail, count, put := put, (tail + 1) % S, count + 1, 1 - put; }}
  }}
}}
void consumer() {{
  decl v: 0..1;
  while (1) {{
    atomic {{
      wait(count > 0);
      v, head, count := item[head], (head + 1) % S, count - 1;
      assert(v = taken) "order";
      taken, v := 1 - taken, 0;
    }}
  }}
}}
void main() {{ thread producer() * 2; thread consumer() * 2; }}
"""
    theirs = f"""#define S {size}
byte item[S], head, tail, count, put, taken;
active[2] proctype producer() {{
  do
  :: atomic {{ count < S -> item[tail] = put; tail = (tail + 1) % S; count = count + 1; put = 1 - put }}
  od
}}
active[2] proctype consumer() {{
  byte v;
  do
  :: atomic {{ count > 0 -> v = item[head]; head = (head + 1) % S; count = count - 1; assert(v == taken); taken = 1 - taken; v = 0 }}
  od
}}
"""
    return ours, theirs


OWN = {
    "ring": (ring, [12, 24, 40]),
    "election": (election, [4, 5, 7, 8]),
    "buffer": (buffer, [4, 16, 64]),
}
