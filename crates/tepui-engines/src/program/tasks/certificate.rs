//! The certificate of what tasks do.

use rustc_hash::FxHashMap;
use tepui_cert::program::{Certificate, Entry, Marking, Node, Pending, Tasks, bits_of};
use tepui_cert::pushdown::{Row, Rows};
use tepui_model::program::Property;
use tepui_model::program::step::{Frame, Value};
use tepui_model::pushdown::Symbol;

use super::super::certificate::kept;
use super::Machine;
use super::runs::{Form, Ledger, Runs};

/// A certificate of markings, and of all runs, given what may have been posted at each of their items.
pub(super) fn certificate<L: Ledger>(
    machine: &Machine,
    properties: Vec<Property>,
    counted: bool,
    runs: &Runs<L>,
    posted: &dyn Fn(u32) -> Vec<Pending>,
    markings: Vec<(u32, Pending)>,
) -> Certificate {
    let program = &machine.program;
    let bits = program.shared.iter().map(|variable| bits_of(program.values(variable.kind)));
    let mut states = Rows::with_bits(&bits.collect::<Vec<_>>());
    for values in machine.shared.iter() {
        states.push(values.iter().copied().map(Value::number).collect::<Row>());
    }
    let (shared, ranks) = states.ranked();
    let (mut frames, mut symbols): (Vec<Frame>, FxHashMap<&Frame, Symbol>) = Default::default();
    let mut symbol = |frame| {
        *symbols.entry(frame).or_insert_with(|| {
            frames.push(Frame::clone(frame));
            Symbol(frames.len() as u32)
        })
    };
    let stacks = machine.stacks.iter().map(|stack| stack.iter().map(&mut symbol).collect()).collect();
    let mut nodes: Vec<Vec<Node>> = runs.entries.iter().map(|_| Vec::new()).collect();
    let mut places: FxHashMap<(u32, u32, u32), usize> = FxHashMap::default();
    for (number, item) in (0..).zip(&runs.items) {
        let Form::Stack(stack) = item.form else { continue };
        let (own, shared) = (&mut nodes[item.entry as usize], ranks[item.shared as usize]);
        let place = *places.entry((item.entry, shared, stack)).or_insert(own.len());
        if place == own.len() {
            own.push(Node { shared, stack, posted: Vec::new() });
        }
        own[place].posted.extend(posted(number));
    }
    let entry = |(entry, nodes): (&super::runs::Entry, Vec<Node>)| {
        let (shared, stack) = entry.point;
        Entry { shared: ranks[shared as usize], stack, nodes }
    };
    let entries = runs.entries.iter().zip(nodes).map(entry).collect();
    let marking = |(shared, pending): (u32, Pending)| Marking { shared: ranks[shared as usize], pending };
    let markings = markings.into_iter().map(marking).collect();
    Certificate {
        program: program.digest(),
        properties,
        kept: kept(&machine.kept),
        shared,
        frames,
        lemmas: Vec::new(),
        regular: None,
        crowd: None,
        tasks: Some(Box::new(Tasks { counted, stacks, entries, markings })),
    }
}
