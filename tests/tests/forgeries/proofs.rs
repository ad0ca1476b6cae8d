//! Changes of a certificate as a value, so that its seal is always right.

use fastrand::Rng;
use tepui_cert::pushdown::{Certificate, Lemma, Rows};
use tepui_model::pushdown::{Model, Pattern, Property, Shared, Symbol};

use crate::orbits::{claimed_groups, sort};
use crate::samples::*;

pub(crate) fn rows(width: usize, rows: impl IntoIterator<Item = Vec<u32>>) -> Rows {
    Rows::of(width, &rows.into_iter().collect::<Vec<_>>())
}

pub(crate) fn cells(lemma: &Lemma) -> Vec<Vec<u32>> {
    lemma.views.iter().map(|row| row.to_vec()).collect()
}

pub(crate) fn set_cells(lemma: &mut Lemma, table: Vec<Vec<u32>>) {
    lemma.views = rows(lemma.views.width(), table);
}

/// A copy with one lemma changed.
pub(crate) fn with_lemma(certificate: &Certificate, number: usize, change: impl FnOnce(&mut Lemma)) -> Certificate {
    let mut forged = certificate.clone();
    change(&mut forged.lemmas[number]);
    forged
}

/// A copy with the table of views of one lemma changed.
pub(crate) fn with_table(
    certificate: &Certificate,
    number: usize,
    change: impl FnOnce(&mut Vec<Vec<u32>>),
) -> Certificate {
    with_lemma(certificate, number, |lemma| {
        let mut table = cells(lemma);
        change(&mut table);
        set_cells(lemma, table);
    })
}

pub(crate) fn drop_views(certificate: &Certificate) -> Vec<Certificate> {
    let each = |(number, lemma): (usize, &Lemma)| {
        let drop_one = move |row| with_table(certificate, number, |table| drop(table.remove(row)));
        (0..lemma.views.len()).map(drop_one).collect::<Vec<_>>()
    };
    certificate.lemmas.iter().enumerate().flat_map(each).collect()
}

/// What a thread's part of a lemma lists below its words.
pub(crate) type Below = Vec<(Vec<Symbol>, Vec<Symbol>)>;

/// All entries of *below*: lemma, thread, entry.
pub(crate) fn entries(certificate: &Certificate) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for (thread, part) in lemma.threads.iter().enumerate() {
            found.extend((0..part.below.len()).map(|entry| (number, thread, entry)));
        }
    }
    found
}

pub(crate) fn change_below(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, thread, entry) in entries(certificate) {
        let part = |lemma: &mut Lemma| std::mem::take(&mut lemma.threads[thread].below);
        let mut with_entry = |change: &dyn Fn(&mut Below)| {
            forged.push(with_lemma(certificate, number, |lemma| {
                let mut below = part(lemma);
                change(&mut below);
                lemma.threads[thread].below = below;
            }));
        };
        with_entry(&|below| drop(below.remove(entry)));
        with_entry(&|below| below[entry].1.clear());
        with_entry(&|below| below.push(below[entry].clone()));
        with_entry(&|below| below[entry].0.reverse());
        with_entry(&|below| below[entry].0.truncate(1));
        let symbols = certificate.lemmas[number].threads[thread].below[entry].1.len();
        (0..symbols).for_each(|symbol| with_entry(&|below| _ = below[entry].1.remove(symbol)));
        (0..5).for_each(|symbol| with_entry(&|below| below[entry].1.push(Symbol(symbol))));
    }
    forged
}

pub(crate) fn change_cells(certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for _ in 0..12 {
            let (row, cell) = (rng.usize(0..lemma.views.len()), rng.usize(0..lemma.views.width()));
            let value = if rng.u32(0..20) == 0 { u32::MAX - rng.u32(0..2) } else { rng.u32(0..5) };
            forged.push(with_table(certificate, number, |table| table[row][cell] = value));
        }
        let again = lemma.views.get(rng.usize(0..lemma.views.len())).to_vec();
        for value in [4, 5, u32::MAX - 1, u32::MAX] {
            let mut unknown = again.clone();
            unknown[rng.usize(0..lemma.views.width())] = value;
            forged.push(with_table(certificate, number, |table| table.push(unknown)));
        }
        forged.push(with_table(certificate, number, |table| table.push(again)));
        forged.push(with_table(certificate, number, Vec::clear));
        forged.push(with_table(certificate, number, |table| table.reverse()));
    }
    forged
}

pub(crate) fn change_words(certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for (thread, part) in lemma.threads.iter().enumerate() {
            if part.words.is_empty() {
                let word = vec![Symbol(rng.u32(0..3)); lemma.depth as usize];
                forged.push(with_lemma(certificate, number, |lemma| lemma.threads[thread].words.push(word)));
                continue;
            }
            let (one, other) = (rng.usize(0..part.words.len()), rng.usize(0..part.words.len()));
            let symbol = Symbol(rng.u32(0..5));
            let mut with_words = |change: &dyn Fn(&mut Vec<Vec<Symbol>>)| {
                forged.push(with_lemma(certificate, number, |lemma| change(&mut lemma.threads[thread].words)));
            };
            with_words(&|words| words.swap(one, other));
            with_words(&|words| _ = words[one].pop());
            with_words(&|words| words[one].push(symbol));
            with_words(&|words| words[one][0] = symbol);
            with_words(&|words| words[one].iter_mut().rev().take(1).for_each(|last| *last = symbol));
            with_words(&|words| words.push(words[one].clone()));
            with_words(&|words| words.push(vec![symbol; 2]));
            with_words(&|words| drop(words.pop()));
            with_words(&|words| words[one][0] = Symbol(u32::MAX));
        }
    }
    forged
}

pub(crate) fn change_lemmas(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    let mut with_lemmas = |change: &dyn Fn(&mut Vec<Lemma>)| {
        let mut changed = certificate.clone();
        change(&mut changed.lemmas);
        forged.push(changed);
    };
    with_lemmas(&Vec::clear);
    with_lemmas(&|lemmas| lemmas.reverse());
    for number in 0..certificate.lemmas.len() {
        with_lemmas(&|lemmas| drop(lemmas.remove(number)));
        with_lemmas(&|lemmas| lemmas.insert(0, lemmas[number].clone()));
        with_lemmas(&|lemmas| lemmas.push(lemmas[number].clone()));
        for depth in [0, 1, 2, 3, 4, u32::MAX] {
            with_lemmas(&|lemmas| lemmas[number].depth = depth);
        }
        with_lemmas(&|lemmas| drop(lemmas[number].threads.pop()));
        with_lemmas(&|lemmas| {
            let again = lemmas[number].threads[0].clone();
            lemmas[number].threads.push(again);
        });
        with_lemmas(&|lemmas| lemmas[number].threads.reverse());
        with_lemmas(&|lemmas| lemmas[number].views = rows(1, [vec![0]]));
        // A lemma that holds nothing but the first view would exclude all others, if it were believed.
        with_lemmas(&|lemmas| {
            let mut narrow = lemmas[number].clone();
            let first = cells(&narrow).swap_remove(0);
            set_cells(&mut narrow, vec![first]);
            lemmas.insert(0, narrow);
        });
    }
    forged
}

/// The same view missing from a lemma and from a copy that is put before it.
pub(crate) fn hide_views(certificate: &Certificate) -> Vec<Certificate> {
    let last = certificate.lemmas.len() - 1;
    let hide = |row: usize| {
        let mut forged = with_table(certificate, last, |table| drop(table.remove(row)));
        forged.lemmas.insert(0, forged.lemmas[last].clone());
        forged
    };
    (0..certificate.lemmas[last].views.len()).map(hide).collect()
}

pub(crate) fn change_claims(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    let mut with_claims = |change: &dyn Fn(&mut Vec<Property>)| {
        let mut changed = certificate.clone();
        change(&mut changed.properties);
        forged.push(changed);
    };
    with_claims(&Vec::clear);
    with_claims(&|claims| claims.reverse());
    for number in 0..certificate.properties.len() {
        with_claims(&|claims| drop(claims.remove(number)));
        with_claims(&|claims| claims[number].never.clear());
        with_claims(&|claims| {
            let again = claims[number].never.clone();
            claims[number].never.extend(again);
        });
        with_claims(&|claims| claims[number].name = "another name".to_owned());
        with_claims(&|claims| claims[number].never.iter_mut().for_each(|pattern| pattern.shared = Some(Shared(0))));
        with_claims(&|claims| claims[number].never.iter_mut().for_each(|pattern| pattern.tops.clear()));
    }
    forged
}

/// A row that violates a property, with words added to the lemma where it lacks one with the right top.
pub(crate) fn violating_row(lemma: &mut Lemma, pattern: &Pattern) -> Vec<u32> {
    let mut row = vec![pattern.shared.map_or(0, |shared| shared.0)];
    let leaders = claimed_groups(lemma);
    for (&leader, top) in leaders.iter().zip(&pattern.tops) {
        let part = &mut lemma.threads[leader];
        let top = top.unwrap_or(part.words[0][0]);
        let found = part.words.iter().position(|word| word[0] == top);
        row.push(found.unwrap_or_else(|| {
            let mut word = if top.is_bottom() { vec![] } else { vec![top] };
            word.push(Symbol::BOTTOM);
            word.truncate(lemma.depth as usize);
            part.words.push(word);
            part.words.len() - 1
        }) as u32);
    }
    sort(&leaders, &row)
}

/// One violating view more, in one of the lemmas.
pub(crate) fn add_violations(model: &Model, certificate: &Certificate, number: usize) -> Vec<Certificate> {
    let patterns = model.properties().iter().flat_map(|property| &property.never);
    let add = |pattern: &Pattern| {
        with_lemma(certificate, number, |lemma| {
            let row = violating_row(lemma, pattern);
            let mut table = cells(lemma);
            table.push(row);
            set_cells(lemma, table);
        })
    };
    patterns.map(add).collect()
}

pub(crate) fn add_random_view(lemma: &mut Lemma, shared_count: u32, rng: &mut Rng) {
    let leaders = claimed_groups(lemma);
    let mut row = vec![rng.u32(0..shared_count)];
    row.extend(leaders.iter().map(|&leader| rng.u32(0..lemma.threads[leader].words.len() as u32)));
    lemma.views.push(sort(&leaders, &row));
}

/// Views, words and symbols added here and there; some of these are still proofs.
pub(crate) fn additions(model: &Model, certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let add = |_| {
        let mut forged = certificate.clone();
        for _ in 0..rng.usize(1..=2) {
            let every_below = change_below(&forged);
            if rng.bool() || every_below.is_empty() {
                let number = rng.usize(0..forged.lemmas.len());
                add_random_view(&mut forged.lemmas[number], model.shared().count(), rng);
            } else {
                forged = every_below[rng.usize(0..every_below.len())].clone();
            }
        }
        forged
    };
    (0..25).map(add).collect()
}

pub(crate) fn forgeries(sample: &Sample, rng: &mut Rng) -> Vec<Certificate> {
    let Sample { model, certificate, .. } = sample;
    let mut forged = [
        drop_views(certificate),
        change_below(certificate),
        change_cells(certificate, rng),
        change_words(certificate, rng),
        change_lemmas(certificate),
        hide_views(certificate),
        change_claims(certificate),
        additions(model, certificate, rng),
    ]
    .concat();
    (0..certificate.lemmas.len()).for_each(|number| forged.extend(add_violations(model, certificate, number)));
    forged
}
