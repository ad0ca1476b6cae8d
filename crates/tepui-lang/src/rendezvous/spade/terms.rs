//! Terms, and what is left of them when sequences are read as stacks.
//!
//! Terms are kept in one table in which equal terms are one entry, so that they are compared by their numbers and cost
//! no recursion. Sequential composition is associative and `idle` is its neutral element: a term without `par` is the
//! word of its constants, the first of which is on top of the stack. A term whose `par`s stand above all its `seq`s is a
//! tree of such words.

use rustc_hash::FxHashMap;

/// A constant, by its place in the declaration of the operators.
pub(super) type Constant = usize;

/// A term, by its place in the table.
pub(super) type TermId = usize;

/// How a term is put together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node<T> {
    Idle,
    Constant(Constant),
    Seq(T, T),
    Par(T, T),
}

impl<T: Copy> Node<T> {
    /// What stands directly below.
    pub(super) fn below(self) -> impl Iterator<Item = T> {
        let (first, second) = match self {
            Self::Idle | Self::Constant(_) => (None, None),
            Self::Seq(first, second) | Self::Par(first, second) => (Some(first), Some(second)),
        };
        first.into_iter().chain(second)
    }
}

/// The table of terms.
#[derive(Default, Debug)]
pub(super) struct Terms {
    nodes: Vec<Node<TermId>>,
    sizes: Vec<usize>,
    index: FxHashMap<Node<TermId>, TermId>,
}

impl Terms {
    /// The term that a node makes.
    pub(super) fn add(&mut self, node: Node<TermId>) -> TermId {
        let next = self.nodes.len();
        let found = *self.index.entry(node).or_insert(next);
        if found == next {
            let size = node.below().fold(1_usize, |size, term| size.saturating_add(self.sizes[term]));
            self.nodes.push(node);
            self.sizes.push(size);
        }
        found
    }

    pub(super) fn node(&self, term: TermId) -> Node<TermId> {
        self.nodes[term]
    }

    /// How many operators and constants a term is made of.
    pub(super) fn size(&self, term: TermId) -> usize {
        self.sizes[term]
    }

    /// The word of a term, top first; none if there is a `par` in it.
    pub(super) fn word(&self, term: TermId) -> Option<Vec<Constant>> {
        let mut word = Vec::new();
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            match self.nodes[term] {
                Node::Idle => {}
                Node::Constant(constant) => word.push(constant),
                Node::Seq(first, second) => work.extend([second, first]),
                Node::Par(..) => return None,
            }
        }
        Some(word)
    }

    /// The tree of words of a term; none if there is a `par` below a `seq`.
    pub(super) fn tree(&self, term: TermId) -> Option<Tree> {
        let mut tree = Tree { shape: Vec::new(), leaves: Vec::new() };
        let mut work = vec![Some(term)];
        while let Some(next) = work.pop() {
            match next.map(|term| (term, self.nodes[term])) {
                None => tree.shape.push(Step::Par),
                Some((_, Node::Par(left, right))) => work.extend([None, Some(right), Some(left)]),
                Some((term, _)) => {
                    tree.leaves.push(self.word(term)?);
                    tree.shape.push(Step::Leaf);
                }
            }
        }
        Some(tree)
    }
}

/// A tree of `par`s whose leaves are words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Tree {
    /// The tree in postfix order: below each `par` are the two trees before it.
    pub(super) shape: Vec<Step>,
    /// The words of the leaves from left to right, tops first.
    pub(super) leaves: Vec<Vec<Constant>>,
}

/// A node of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Step {
    Leaf,
    Par,
}

/// Evaluates a tree from the leaves to the root. There is no value only if there is no tree.
pub(super) fn fold<T, E>(
    shape: &[Step],
    mut leaf: impl FnMut(usize) -> Result<T, E>,
    mut par: impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut values = Vec::new();
    let mut leaves = 0;
    for step in shape {
        let right = if *step == Step::Par { values.pop() } else { None };
        let left = if *step == Step::Par { values.pop() } else { None };
        values.push(match (left, right) {
            (Some(left), Some(right)) => par(left, right)?,
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => {
                leaves += 1;
                leaf(leaves - 1)?
            }
        });
    }
    Ok(values.pop())
}
