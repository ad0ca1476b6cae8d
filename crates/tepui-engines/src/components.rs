//! Strongly connected components, by Tarjan's algorithm without recursion: graphs of heads are deep.

/// Not visited yet.
const UNSEEN: usize = usize::MAX;

/// For each node the number of its component. `edges` lists the successors of each node.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut search = Tarjan {
        order: vec![UNSEEN; edges.len()],
        low: vec![0; edges.len()],
        component: vec![UNSEEN; edges.len()],
        open: Vec::new(),
        visited: 0,
        found: 0,
    };
    for node in 0..edges.len() {
        if search.order[node] == UNSEEN {
            search.visit(node, edges);
        }
    }
    search.component
}

struct Tarjan {
    /// When a node was visited.
    order: Vec<usize>,
    /// The earliest node on the stack that is known to be reachable from a node's subtree.
    low: Vec<usize>,
    component: Vec<usize>,
    /// Visited nodes without a component, in the order of visits.
    open: Vec<usize>,
    visited: usize,
    found: usize,
}

impl Tarjan {
    fn enter(&mut self, node: usize) {
        (self.order[node], self.low[node]) = (self.visited, self.visited);
        self.visited += 1;
        self.open.push(node);
    }

    fn visit(&mut self, root: usize, edges: &[Vec<usize>]) {
        self.enter(root);
        // The path from the root, each node with the number of successors that have been looked at.
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(&to) = edges[node].get(*next) {
                *next += 1;
                if self.order[to] == UNSEEN {
                    self.enter(to);
                    path.push((to, 0));
                } else if self.component[to] == UNSEEN {
                    self.low[node] = self.low[node].min(self.order[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent] = self.low[parent].min(self.low[node]);
            }
            if self.low[node] == self.order[node] {
                self.close(node);
            }
        }
    }

    /// What is open since a node was visited is its component.
    fn close(&mut self, node: usize) {
        while let Some(member) = self.open.pop() {
            self.component[member] = self.found;
            if member == node {
                break;
            }
        }
        self.found += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_are_together() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let nodes = rng.usize(1..8);
            let edges: Vec<Vec<usize>> =
                (0..nodes).map(|_| (0..rng.usize(..3)).map(|_| rng.usize(..nodes)).collect()).collect();
            let mut reach = vec![vec![false; nodes]; nodes];
            (0..nodes).for_each(|node| reach[node][node] = true);
            for _ in 0..nodes {
                for from in 0..nodes {
                    for &to in &edges[from] {
                        for origin in reach.iter_mut().filter(|row| row[from]) {
                            origin[to] = true;
                        }
                    }
                }
            }
            let component = components(&edges);
            for one in 0..nodes {
                for other in 0..nodes {
                    let together = reach[one][other] && reach[other][one];
                    assert_eq!(component[one] == component[other], together, "seed {seed}: {edges:?}");
                }
            }
        }
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        let edges: Vec<Vec<usize>> = (0..200_000).map(|node| vec![(node + 1) % 200_000]).collect();
        assert!(components(&edges).iter().all(|&component| component == 0));
    }
}
