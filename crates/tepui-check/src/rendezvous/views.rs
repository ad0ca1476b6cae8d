//! Proofs by views of threads that meet: the check of a lemma, with steps that several threads take together.
//!
//! A stack of the model, with the floor beneath it, determines which [`Frame`] each of its symbols is: the control state
//! is held by the topmost one, and where the automata of the queries are is read from the bottom upwards. So the states
//! of the model are those of a system with frames for symbols, and a step of one is a step of the other. A rule that
//! removes a frame gives the one that comes to light the control state, and every frame that a rule writes knows
//! where the automata are beneath it. Frames that the certificate does not list have no number: then what leads to them
//! is missing.

use rustc_hash::FxHashMap;
use tepui_cert::rendezvous::{Frame, Views};
use tepui_model::rendezvous::{Control, Model, Observers, Property, Symbol};

use super::{LOOK_EVERY, Why, refused};
use crate::lemma::{Checked, check_lemmas};
use crate::system::{Change, Move, NOWHERE, Others, Start, System};
use crate::{Accepted, Rejected, pushdown};

/// Decides whether views prove every property of a model.
pub(super) fn check(model: &Model, certificate: &Views, stop: &dyn Fn() -> bool) -> Result<Accepted, Rejected> {
    if certificate.model != model.digest() {
        return Err(Rejected::new("model", "the certificate is about another model (the digests differ)"));
    }
    let claimed = claimed(model, certificate)?;
    let system = Meeting::new(model, certificate, &claimed, stop)?;
    let lemmas = check_lemmas(&system, &certificate.lemmas)?;
    let Some(last) = lemmas.last() else { return Err(Rejected::new("lemmas", "there is none")) };
    for property in model.properties().iter().filter(|property| !property.never.is_empty()) {
        let place = || format!("property {}", property.name);
        if !claimed.iter().any(|claimed| claimed.never == property.never) {
            return Err(Rejected::new(place(), "the certificate makes no claim about it"));
        }
        system.avoids(last, property).map_err(|reason| refused(place(), reason))?;
    }
    let properties = model.properties().iter().map(|property| property.name.clone()).collect();
    Ok(Accepted::Views(pushdown::Accepted::of(&lemmas, last, properties)))
}

/// The properties that a certificate claims to prove: it must mean the same states by them.
fn claimed<'a>(model: &'a Model, certificate: &Views) -> Result<Vec<&'a Property>, Rejected> {
    let stated: Vec<_> = model.stated().iter().map(|property| (property.digest(), property)).collect();
    let find = |claim: &tepui_cert::rendezvous::Forbidden| {
        let found = stated.iter().find(|(never, _)| *never == claim.never);
        found.map(|(_, property)| *property).ok_or_else(|| {
            Rejected::new(format!("property {}", claim.name), "the certificate means other states by it than the model")
        })
    };
    certificate.claims.iter().map(find).collect()
}

/// A model with the frames of a certificate, as the check of a lemma sees it.
pub(super) struct Meeting<'a> {
    pub(super) model: &'a Model,
    stop: &'a dyn Fn() -> bool,
    observers: Vec<Observers<'a>>,
    frames: &'a [Vec<Frame>],
    numbers: Vec<FxHashMap<&'a Frame, Symbol>>,
    /// The rules of all threads by head.
    by_head: Vec<FxHashMap<(Control, Symbol), Vec<usize>>>,
    /// The threads that each action needs.
    needed: Vec<Vec<usize>>,
    initial: Vec<Start>,
}

impl<'a> Meeting<'a> {
    fn new(
        model: &'a Model,
        certificate: &'a Views,
        claimed: &[&'a Property],
        stop: &'a dyn Fn() -> bool,
    ) -> Result<Self, Rejected> {
        let threads = model.threads();
        if certificate.frames.len() != threads.len() {
            return Err(Rejected::new("frames", format!("they are not those of {} threads", threads.len())));
        }
        let observers: Vec<_> =
            (0..threads.len()).map(|thread| Observers::new(claimed.iter().copied(), thread)).collect();
        for ((frames, thread), observers) in certificate.frames.iter().zip(threads).zip(&observers) {
            let exists = |frame: &Frame| {
                frame.control.is_none_or(|control| (control.0 as usize) < thread.controls.len())
                    && frame.symbol.0 < thread.symbol_count()
                    && observers.have(&frame.nodes)
            };
            if !frames.iter().all(exists) {
                return Err(Rejected::new("frames", format!("thread {} has one that does not exist", thread.name)));
            }
        }
        let numbered = |frames: &'a Vec<Frame>| frames.iter().zip((1..).map(Symbol)).collect::<FxHashMap<_, _>>();
        let numbers: Vec<_> = certificate.frames.iter().map(numbered).collect();
        if numbers.iter().zip(&certificate.frames).any(|(numbers, frames)| numbers.len() != frames.len()) {
            return Err(Rejected::new("frames", "one is listed twice"));
        }
        let mut by_head: Vec<FxHashMap<_, Vec<usize>>> = vec![FxHashMap::default(); threads.len()];
        for (heads, thread) in by_head.iter_mut().zip(threads) {
            for (number, rule) in thread.rules.iter().enumerate() {
                heads.entry((rule.from, rule.top)).or_default().push(number);
            }
        }
        let mut needed = vec![Vec::new(); model.actions().len()];
        for (number, thread) in threads.iter().enumerate() {
            thread.knows.iter().for_each(|action| needed[action.0 as usize].push(number));
        }
        let initial = Vec::new();
        let mut system =
            Self { model, stop, observers, frames: &certificate.frames, numbers, by_head, needed, initial };
        let stacks = model.init().iter().enumerate().map(|(thread, local)| {
            let symbols: Vec<_> = local.stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
            system.written(thread, local.control, &symbols, &system.observers[thread].ground())
        });
        let stacks = stacks.collect();
        system.initial = vec![(0, stacks)];
        Ok(system)
    }

    pub(super) fn frame(&self, thread: usize, symbol: Symbol) -> Option<&'a Frame> {
        self.frames[thread].get((symbol.0 as usize).checked_sub(1)?)
    }

    fn number(&self, thread: usize, frame: &Frame) -> Symbol {
        self.numbers[thread].get(frame).copied().unwrap_or(Symbol(NOWHERE))
    }

    /// The frames of some symbols, top first, in a control state, above what the automata have read.
    fn written(&self, thread: usize, control: Control, symbols: &[Symbol], below: &[Option<u32>]) -> Vec<Symbol> {
        let mut nodes = below.to_vec();
        let mut found = Vec::new();
        for (height, &symbol) in symbols.iter().enumerate().rev() {
            let above = self.observers[thread].above(&nodes, symbol);
            let nodes = std::mem::replace(&mut nodes, above);
            found.push(self.number(thread, &Frame { control: (height == 0).then_some(control), symbol, nodes }));
        }
        found.reverse();
        found
    }

    /// Whether no view of a lemma violates a property. A frame without a control state is on top of no stack.
    fn avoids(&self, lemma: &Checked<'_, Self>, property: &Property) -> Result<(), Why> {
        let violates = |row: &[u32]| {
            let is_in = |(thread, set): (usize, &Option<tepui_model::rendezvous::LocalSet>)| {
                let Some(set) = set else { return true };
                let top = self.frame(thread, lemma.word(thread, row[thread + 1])[0]);
                top.is_some_and(|Frame { control, symbol, nodes }| {
                    control.is_some_and(|control| self.observers[thread].meant(set, control, *symbol, nodes))
                })
            };
            property.never.iter().any(|target| target.locals.iter().enumerate().all(is_in))
        };
        for (number, row) in lemma.lemma.views.iter().enumerate() {
            if number.is_multiple_of(LOOK_EVERY) && (self.stop)() {
                return Err(Why::Stopped);
            }
            if violates(&row) {
                return Err(format!("the view {} violates it", lemma.show(&row)).into());
            }
        }
        Ok(())
    }
}

impl System for Meeting<'_> {
    const TURNS: bool = false;

    fn threads(&self) -> usize {
        self.frames.len()
    }

    fn symbols(&self, thread: usize) -> u32 {
        u32::try_from(self.frames[thread].len() + 1).unwrap_or(NOWHERE)
    }

    fn shared_states(&self) -> u32 {
        1
    }

    fn alike(&self, _: usize, _: usize) -> Result<(), &'static str> {
        Err("is said to be like another: threads that meet are told apart")
    }

    fn initial(&self) -> &[Start] {
        &self.initial
    }

    fn moves(&self, thread: usize, _: u32, top: Symbol) -> Vec<Move> {
        let Some(frame) = self.frame(thread, top) else { return Vec::new() };
        let Some(control) = frame.control else { return Vec::new() };
        let rules = self.by_head[thread].get(&(control, frame.symbol)).map_or(&[][..], Vec::as_slice);
        let step = |&number: &usize| {
            let rule = &self.model.threads()[thread].rules[number];
            // On the empty stack nothing is removed: the floor stays.
            let floor = rule.top.is_bottom().then_some(Symbol::BOTTOM);
            let symbols: Vec<_> = rule.right.iter().copied().chain(floor).collect();
            let change = match symbols.is_empty() {
                true => Change::Pop,
                false => Change::Replace(self.written(thread, rule.to, &symbols, &frame.nodes).into()),
            };
            let action = rule.action.filter(|action| self.needed[action.0 as usize].len() > 1);
            Move { to: 0, change, others: action.map(|action| Others::Meet(action.0)), number }
        };
        rules.iter().map(step).collect()
    }

    fn revealed(&self, thread: usize, step: &Move, symbol: Symbol) -> Vec<(u32, Symbol)> {
        let Some(frame) = self.frame(thread, symbol).filter(|frame| frame.control.is_none()) else { return Vec::new() };
        let control = Some(self.model.threads()[thread].rules[step.number].to);
        vec![(0, self.number(thread, &Frame { control, ..frame.clone() }))]
    }

    fn is_uninterrupted(&self, _: Symbol) -> bool {
        false
    }

    fn woken(&self, _: Symbol, _: u32) -> Option<Vec<Symbol>> {
        None
    }

    fn meeting(&self, action: u32) -> &[usize] {
        &self.needed[action as usize]
    }

    fn stop(&self) -> bool {
        (self.stop)()
    }
}
