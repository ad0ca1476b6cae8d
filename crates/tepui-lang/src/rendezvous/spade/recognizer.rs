//! What `bad` says, ready to be asked about threads.
//!
//! Stacks are read from bottom to top by a [`Reader`], which gives each a value. The values of the stacks make the value
//! of the whole tree, by the transitions for `par`; a tree is bad iff its value is accepted.
//!
//! A set of terms becomes a reader that knows their words, and one state for each of their subtrees in which all that is
//! idle has been left out.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Sink};

use super::algebra::{Algebra, NEUTRAL, Pairs, Value};
use super::syntax::TermText;
use super::terms::{Constant, Step, Terms, Tree, fold};

/// Where the reader is after the empty stack.
pub(super) const EMPTY: usize = 0;

/// A deterministic automaton that reads stacks from bottom to top. A stack that it cannot read has no value.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// From each node where the constants lead.
    pub(super) edges: Vec<BTreeMap<Constant, usize>>,
    /// The value of a stack that ends in a node, if it has one.
    pub(super) values: Vec<Option<Value>>,
}

/// A set of trees of words.
#[derive(Debug)]
pub(super) struct Recognizer {
    pub(super) reader: Reader,
    pub(super) algebra: Algebra,
    /// The transitions for `par`.
    pub(super) par: Pairs,
}

impl Recognizer {
    /// The recognizer of listed terms, for trees of a shape. Terms that no such tree can be equal to are in error.
    pub(super) fn of_terms(texts: &[TermText<'_>], terms: &Terms, shape: &[Step], sink: &mut Sink) -> Self {
        let mut subtrees = Subtrees::default();
        let mut roots = Vec::new();
        for text in texts {
            if let Some(tree) = terms.tree(text.term) {
                roots.push((text, subtrees.add(&tree)));
            }
        }
        let possible = subtrees.possible(shape);
        for (text, root) in &roots {
            if root.is_some_and(|root| !possible.contains(&root)) {
                sink.push(misshapen(text));
            }
        }
        let accepts_idle = roots.iter().any(|root| root.1.is_none());
        let accepting = roots.iter().filter_map(|root| root.1).collect();
        subtrees.recognizer(accepting, accepts_idle)
    }
}

fn misshapen(text: &TermText<'_>) -> Diagnostic {
    let error = text.first.error("no state can be equal to this term", "not nested as the initial term");
    let hint = "`par` is taken as it is written, neither associative nor commutative";
    Diagnostic { span: text.first.up_to(&text.last), ..error }.hint(hint)
}

/// The subtrees of terms without what is idle, each of them once.
#[derive(Default)]
struct Subtrees {
    words: FxHashMap<Vec<Constant>, usize>,
    pairs: FxHashMap<(usize, usize), usize>,
}

impl Subtrees {
    /// The number of a tree, none if it is idle.
    fn add(&mut self, tree: &Tree) -> Option<usize> {
        let mut found: Vec<Option<usize>> = Vec::new();
        for word in &tree.leaves {
            let next = self.words.len() + self.pairs.len();
            found.push((!word.is_empty()).then(|| *self.words.entry(word.clone()).or_insert(next)));
        }
        let mut join = |left: Option<usize>, right: Option<usize>| {
            let (Some(one), Some(other)) = (left, right) else { return left.or(right) };
            let next = self.words.len() + self.pairs.len();
            Some(*self.pairs.entry((one, other)).or_insert(next))
        };
        let folded: Result<_, ()> = fold(&tree.shape, |leaf| Ok(found[leaf]), |left, right| Ok(join(left, right)));
        folded.ok().flatten().flatten()
    }

    /// Which subtrees a tree of a shape can be equal to.
    fn possible(&self, shape: &[Step]) -> BTreeSet<usize> {
        let words: BTreeSet<_> = self.words.values().copied().collect();
        let join = |left: BTreeSet<usize>, right: BTreeSet<usize>| {
            let both = self.pairs.iter().filter(|((one, other), _)| left.contains(one) && right.contains(other));
            let both: Vec<_> = both.map(|(_, &pair)| pair).collect();
            left.iter().chain(&right).copied().chain(both).collect()
        };
        let folded: Result<_, ()> = fold(shape, |_| Ok(words.clone()), |left, right| Ok(join(left, right)));
        folded.ok().flatten().unwrap_or_default()
    }

    fn recognizer(self, accepting: BTreeSet<usize>, accepts_idle: bool) -> Recognizer {
        let mut algebra = Algebra::new(Vec::new(), accepting, accepts_idle);
        let mut reader = Reader { edges: vec![BTreeMap::new()], values: vec![Some(NEUTRAL)] };
        let mut words: Vec<_> = self.words.into_iter().collect();
        words.sort_unstable_by_key(|word| word.1);
        for (word, subtree) in words {
            let mut node = EMPTY;
            for &constant in word.iter().rev() {
                let next = reader.edges.len();
                node = *reader.edges[node].entry(constant).or_insert(next);
                if node == next {
                    reader.edges.push(BTreeMap::new());
                    reader.values.push(None);
                }
            }
            reader.values[node] = algebra.value([subtree]);
        }
        let par = self.pairs.into_iter().map(|(below, pair)| (below, vec![pair])).collect();
        Recognizer { reader, algebra, par }
    }
}
