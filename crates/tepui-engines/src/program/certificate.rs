//! Certificates of programs: closed sets of views, in the terms of the source.

use tepui_cert::program::{Certificate, Kept, Positions, bits_of};
use tepui_cert::pushdown::{LemmaThread, Rows};
use tepui_core::{Budget, Stop};
use tepui_model::program::step::{self, Value};
use tepui_model::pushdown::Symbol;

use super::layout::{Field, Head, Stage};
use super::system::Programs;
use super::variables::{self, Variables};
use crate::explored::Explored;
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::packed::PackedSet;
use crate::pushdown::lemma::lemma;
use crate::pushdown::words::Words;
use crate::workers::Workers;

/// The certificate of a closed set of views; `word` gives the word that a thread's cell stands for.
pub(super) fn certificate(
    system: &Programs,
    words: &Words,
    (views, explored): (PackedSet<ViewId>, Option<Explored>),
    word: impl Fn(ThreadId, u32) -> WordId + Sync,
    violated: &[bool],
    workers: &Workers,
    budget: &mut Budget,
) -> Result<Certificate, Stop> {
    let (views, explored) = without_failures(system, words, (views, explored), &word, budget)?;
    let (numbers, shared) = shared_states(system, &views, budget)?;
    let most = shared.len().saturating_sub(1) as u32;
    let number = |shared: u32| numbers[shared as usize];
    let mut lemma = lemma(&system.symmetry, words, (views, explored), (number, most), word, workers, budget)?;
    let mut frames = Frames::new(system);
    lemma.threads.iter_mut().for_each(|thread| frames.renumber(thread));
    let asked = system.properties.iter().zip(violated).filter(|(property, _)| !property.never.is_empty());
    let proved = asked.filter(|(_, violated)| !**violated);
    Ok(Certificate {
        program: system.code.given.digest(),
        properties: proved.map(|(property, _)| property.clone()).collect(),
        kept: kept(&system.code.kept),
        shared,
        frames: frames.frames,
        lemmas: vec![lemma],
        regular: None,
        crowd: None,
        tasks: None,
    })
}

/// The views in which no thread has failed: failing changes nothing, so the view before it stays.
fn without_failures(
    system: &Programs,
    words: &Words,
    (views, explored): (PackedSet<ViewId>, Option<Explored>),
    word: &impl Fn(ThreadId, u32) -> WordId,
    budget: &mut Budget,
) -> Result<(PackedSet<ViewId>, Option<Explored>), Stop> {
    if !(1..=system.tables.frame_count() as u32).any(|symbol| system.has_failed(Symbol(symbol))) {
        return Ok((views, explored));
    }
    let mut kept = PackedSet::new(vec![1; views.width()]);
    let mut kept_explored = explored.as_ref().map(|_| Explored::default());
    let mut row = vec![0; views.width()];
    for view in views.ids() {
        views.get(view, &mut row);
        if !Threads::of(&row).any(|thread| system.has_failed(words.word(thread, word(thread, row[thread.field()]))[0]))
        {
            let (number, _): (ViewId, _) = kept.insert(&row);
            if let (Some(kept), Some(explored)) = (&mut kept_explored, &explored) {
                kept.set(number.index(), explored.at(view.index()).map(<[_]>::to_vec));
            }
        }
        budget.pass(1)?;
    }
    Ok((kept, kept_explored))
}

/// The shared states that occur in views, and for each shared row the number of its state.
fn shared_states(system: &Programs, views: &PackedSet<ViewId>, budget: &mut Budget) -> Result<(Vec<u32>, Rows), Stop> {
    let mut numbers = vec![u32::MAX; system.tables.shared_count()];
    let (fields, kept) = (&system.code.shared.fields, &system.code.kept.shared);
    let program = &system.code.program;
    let bits = program.shared.iter().map(|variable| bits_of(program.values(variable.kind)));
    let mut states = Rows::with_bits(&bits.collect::<Vec<_>>());
    states.reserve(numbers.len());
    let mut packed: Vec<u32> = Vec::new();
    for view in views.ids() {
        let shared = views.field(view, 0);
        if numbers[shared as usize] == u32::MAX {
            let row = system.tables.shared(shared);
            numbers[shared as usize] = states.len() as u32;
            packed.clear();
            packed.extend(each_value(fields, row, kept).map(Value::number));
            states.push(&packed);
        }
        budget.pass(1)?;
    }
    let (states, ranks) = states.ranked();
    budget.look()?;
    let occurs = numbers.iter_mut().filter(|number| **number != u32::MAX);
    occurs.for_each(|number| *number = ranks[*number as usize]);
    Ok((numbers, states))
}

/// The frames of a certificate.
pub(super) struct Frames<'a> {
    system: &'a Programs,
    /// For each symbol that of the certificate.
    numbers: Vec<Option<Symbol>>,
    pub(super) frames: Vec<step::Frame>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(system: &'a Programs) -> Self {
        Self { system, numbers: vec![None; system.tables.frame_count() + 1], frames: Vec::new() }
    }

    /// Gives the frames of a thread's words their numbers in the certificate.
    pub(super) fn renumber(&mut self, thread: &mut LemmaThread) {
        thread.below.retain(|(word, _)| !self.system.has_failed(word[0]));
        let below = thread.below.iter_mut().flat_map(|(word, symbols)| word.iter_mut().chain(symbols));
        for symbol in thread.words.iter_mut().flatten().chain(below) {
            *symbol = self.number(*symbol);
        }
        for (_, symbols) in &mut thread.below {
            symbols.sort_unstable();
        }
        thread.below.sort_unstable();
    }

    fn number(&mut self, symbol: Symbol) -> Symbol {
        if symbol.is_bottom() {
            return symbol;
        }
        if let Some(known) = self.numbers[symbol.0 as usize] {
            return known;
        }
        self.frames.push(self.system.source_frame(symbol));
        let number = Symbol(self.frames.len() as u32);
        self.numbers[symbol.0 as usize] = Some(number);
        number
    }
}

impl Programs {
    /// The frame of the program that a symbol stands for.
    pub fn source_frame(&self, symbol: Symbol) -> step::Frame {
        let words = self.tables.frame(symbol);
        let head = Head(words[0]);
        let (procedure, position) = (head.procedure(), head.position());
        let kept = &self.code.kept;
        let (stage, kept) = match head.stage() {
            Stage::Asleep => (step::Stage::Asleep(head.condition()), &kept.at[procedure][position]),
            Stage::Storing => (step::Stage::Storing, &kept.during[procedure][position]),
            Stage::Waiting => (step::Stage::Waiting, &kept.at[procedure][position]),
            _ => (step::Stage::Running, &kept.at[procedure][position]),
        };
        step::Frame {
            procedure,
            position,
            locals: values(&self.code.procedures[procedure].layout.fields, words, kept),
            stage,
            root: head.is_root(),
            under: head.is_under(),
            insists: head.insists(),
        }
    }

    /// Whether a thread has failed that has a frame on top.
    fn has_failed(&self, symbol: Symbol) -> bool {
        !symbol.is_bottom() && Head(self.tables.frame(symbol)[0]).stage().has_failed()
    }

    /// The values of the shared variables in a shared row.
    pub fn source_values(&self, shared: u32) -> Vec<Value> {
        values(&self.code.shared.fields, self.tables.shared(shared), &self.code.kept.shared)
    }

    /// A frame in words.
    pub fn show_frame(&self, symbol: Symbol) -> String {
        if symbol.is_bottom() {
            return "-".to_owned();
        }
        let (program, stage) = (&self.code.program, Head(self.tables.frame(symbol)[0]).stage());
        let frame = self.source_frame(symbol);
        let procedure = &program.procedures[frame.procedure];
        let place = match procedure.statements.get(frame.position) {
            Some(statement) => format!("{}:{}", procedure.name, statement.line),
            None => format!("{}:end", procedure.name),
        };
        let doing = match stage {
            Stage::Failed | Stage::OutOfRange | Stage::OutOfArray => return format!("{place} fails"),
            Stage::Full => " wants more threads",
            Stage::Asleep => " asleep",
            Stage::Running | Stage::Storing | Stage::Waiting => "",
        };
        let known = procedure.locals.iter().zip(&frame.locals);
        let known = known.filter_map(|(variable, value)| Some((variable, value.known()?)));
        let values: Vec<_> = known
            .map(|(variable, value)| format!("{} = {}", variable.name, program.value_name(variable.kind, value)))
            .collect();
        if values.is_empty() { format!("{place}{doing}") } else { format!("{place}{doing} ({})", values.join(", ")) }
    }

    /// A view in words.
    pub fn show_view(&self, shared: u32, words: &[Vec<Symbol>]) -> String {
        let program = &self.code.program;
        let word = |word: &Vec<Symbol>| match word.as_slice() {
            [top] => self.show_frame(*top),
            [upper @ .., last] if last.is_bottom() => {
                upper.iter().rev().map(|&frame| self.show_frame(frame)).collect::<Vec<_>>().join(" > ")
            }
            word => {
                let frames: Vec<_> = word.iter().rev().map(|&frame| self.show_frame(frame)).collect();
                format!(".. > {}", frames.join(" > "))
            }
        };
        let threads = words.iter().map(word).collect::<Vec<_>>().join(", ");
        let known = program.shared.iter().zip(self.source_values(shared));
        let known = known.filter_map(|(variable, value)| Some((variable, value.known()?)));
        let values: Vec<_> = known
            .map(|(variable, value)| format!("{} = {}", variable.name, program.value_name(variable.kind, value)))
            .collect();
        if values.is_empty() { threads } else { format!("{threads}; {}", values.join(", ")) }
    }
}

/// What is kept, as a certificate says it.
pub fn kept(kept: &variables::Kept) -> Kept {
    let of = |procedures: &[Vec<Variables>]| -> Vec<Positions> {
        let kept = |positions: &Vec<Variables>| -> Positions {
            let all = positions.iter().map(|kept| kept.iter().collect::<Vec<_>>()).enumerate();
            all.filter(|(_, kept)| !kept.is_empty()).collect()
        };
        procedures.iter().map(kept).collect()
    };
    Kept { shared: kept.shared.iter().collect(), locals: of(&kept.at), storing: of(&kept.during) }
}

/// The values in a row of words, as far as they are kept.
pub(super) fn values(fields: &[Field], row: &[u64], kept: &Variables) -> Vec<Value> {
    each_value(fields, row, kept).collect()
}

fn each_value(fields: &[Field], row: &[u64], kept: &Variables) -> impl Iterator<Item = Value> {
    let value = |(number, field): (usize, &Field)| match kept.contains(number) {
        true => field.value(row).map_or(Value::Unset, Value::Known),
        false => Value::Forgotten,
    };
    fields.iter().enumerate().map(value)
}
