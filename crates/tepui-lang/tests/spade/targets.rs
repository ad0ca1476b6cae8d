//! What the automata of queries accept, compared with their definition.

use super::*;

/// A set of states of an automaton.
type States = BTreeSet<usize>;

/// An automaton at random, and what it says of a term: whether some term is accepted that is equal to it but for `idle`.
struct Random {
    states: usize,
    constants: Vec<(usize, usize)>,
    idle: States,
    seq: Vec<[usize; 3]>,
    par: Vec<[usize; 3]>,
    accepting: States,
}

impl Random {
    fn new(rng: &mut Rng) -> Self {
        let states = rng.usize(2..4);
        let mut some = |most: usize, width: usize| -> Vec<Vec<usize>> {
            (0..rng.usize(..=most)).map(|_| (0..width).map(|_| rng.usize(..states)).collect()).collect()
        };
        let triples = |list: Vec<Vec<usize>>| list.into_iter().map(|list| [list[0], list[1], list[2]]).collect();
        let constants = some(4, 2).into_iter().map(|pair| (pair[0] % 2, pair[1])).collect();
        let (seq, par) = (triples(some(4, 3)), triples(some(6, 3)));
        let idle = some(1, 1).concat().into_iter().collect();
        Self { states, constants, idle, seq, par, accepting: [rng.usize(..states)].into() }
    }

    fn text(&self) -> String {
        let states: Vec<_> = (0..self.states).map(|state| format!("q{state}")).collect();
        let accepting: Vec<_> = self.accepting.iter().map(|state| format!("q{state}")).collect();
        let mut text =
            format!("Automaton bad States {} Final States {} Transitions\n", states.join(" "), accepting.join(" "));
        self.constants.iter().for_each(|(one, to)| text.push_str(&format!("{} -> q{to}\n", ["a", "b"][*one])));
        self.idle.iter().for_each(|to| text.push_str(&format!("idle -> q{to}\n")));
        self.seq.iter().for_each(|[one, other, to]| text.push_str(&format!("seq(q{one}, q{other}) -> q{to}\n")));
        self.par.iter().for_each(|[one, other, to]| text.push_str(&format!("par(q{one}, q{other}) -> q{to}\n")));
        text
    }

    fn apply(table: &[[usize; 3]], left: &States, right: &States) -> States {
        let fits = table.iter().filter(|[one, other, _]| left.contains(one) && right.contains(other));
        fits.map(|transition| transition[2]).collect()
    }

    /// The states of `idle`, with any number of `idle`s put together.
    fn idle(&self) -> States {
        let mut idle = self.idle.clone();
        for _ in 0..=self.states {
            for table in [&self.seq, &self.par] {
                idle.extend(Self::apply(table, &idle, &idle));
            }
        }
        idle
    }

    /// The states of a term that has some states by itself, with any number of `idle`s around it.
    fn wrapped(&self, mut states: States) -> States {
        let idle = self.idle();
        for _ in 0..=self.states {
            for table in [&self.seq, &self.par] {
                states.extend(Self::apply(table, &idle, &states));
                states.extend(Self::apply(table, &states, &idle));
            }
        }
        states
    }

    /// The states of a word, top first.
    fn word(&self, word: &[usize]) -> Option<States> {
        let (first, rest) = word.split_first()?;
        let one = self.constants.iter().filter(|(constant, _)| constant == first).map(|(_, to)| *to);
        let one = self.wrapped(one.collect());
        Some(match self.word(rest) {
            Some(rest) => self.wrapped(Self::apply(&self.seq, &one, &rest)),
            None => one,
        })
    }

    fn join(&self, left: Option<States>, right: Option<States>) -> Option<States> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.wrapped(Self::apply(&self.par, &left, &right))),
            (one, other) => one.or(other),
        }
    }

    fn accepts(&self, [first, second, third]: [Option<States>; 3]) -> bool {
        let states = self.join(self.join(first, second), third).unwrap_or_else(|| self.idle());
        !states.is_disjoint(&self.accepting)
    }
}

#[test]
fn targets_are_what_the_automaton_accepts() {
    let rng = &mut Rng::with_seed(0x7ee5);
    let words: [&[usize]; 9] = [&[], &[0], &[1], &[0, 0], &[0, 1], &[1, 0], &[1, 1], &[0, 1, 1], &[1, 0, 0]];
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0 Acts SPAD Set init par(par(seq(a, b), seq(a, b)), seq(a, b))";
    let (mut read, mut bad, mut good, mut open) = (0, 0, 0, 0);
    for _ in 0..1_000 {
        let random = Random::new(rng);
        let text = format!("{start}\n{}", random.text());
        let Ok(Parsed { model, .. }) = read_spade(&source(&text)) else { continue };
        read += 1;
        open +=
            model.properties()[0].never.iter().flat_map(|target| &target.locals).filter(|set| set.is_none()).count();
        let local = |word: &[usize]| Local {
            control: Control(0),
            stack: word.iter().rev().map(|&constant| Symbol(constant as u32 + 1)).collect(),
        };
        let values = words.map(|word| random.word(word));
        for number in 0..words.len().pow(3) {
            let tuple = [number % 9, number / 9 % 9, number / 81];
            let expected = random.accepts(tuple.map(|index| values[index].clone()));
            let state: State = tuple.iter().map(|&index| local(words[index])).collect();
            assert_eq!(model.properties()[0].forbids(&state), expected, "{text}\n{tuple:?}");
            if expected { bad += 1 } else { good += 1 }
        }
    }
    assert!(read > 250 && bad > 10_000 && good > 10_000 && open > 30, "{read} {bad} {good} {open}");
}
