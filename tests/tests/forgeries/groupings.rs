//! Changes of what a certificate says of interchangeable threads.

use fastrand::Rng;
use tepui_cert::pushdown::{Certificate, Lemma, LemmaThread};
use tepui_model::pushdown::Model;

use crate::judge::*;
use crate::orbits::*;
use crate::proofs::*;
use crate::samples::Sample;

/// Groups within larger ones.
pub(crate) fn split(groups: &[usize], rng: &mut Rng) -> Vec<usize> {
    let mut leaders: Vec<usize> = vec![];
    for thread in 0..groups.len() {
        let open: Vec<_> = (0..thread).filter(|&t| leaders[t] == t && groups[t] == groups[thread]).collect();
        let alone = open.is_empty() || rng.u32(0..3) == 0;
        leaders.push(if alone { thread } else { open[rng.usize(0..open.len())] });
    }
    leaders
}

/// Every thread with any other, for one reason or another.
fn change_likes(certificate: &Certificate, number: usize) -> Vec<Certificate> {
    let lemma = &certificate.lemmas[number];
    let mut forged = Vec::new();
    for thread in 0..lemma.threads.len() {
        for like in (0..=lemma.threads.len()).chain([usize::MAX]) {
            let follower = LemmaThread { like: Some(like), ..LemmaThread::default() };
            let talking = LemmaThread { like: Some(like), ..lemma.threads[thread].clone() };
            for part in [follower, talking] {
                forged.push(with_lemma(certificate, number, |lemma| lemma.threads[thread] = part));
            }
        }
        let mut part = lemma.threads[lemma.threads[thread].like.unwrap_or(thread)].clone();
        forged.push(with_lemma(certificate, number, |lemma| lemma.threads[thread] = part.clone()));
        part.like = lemma.threads[thread].like;
        forged.push(with_lemma(certificate, number, |lemma| lemma.threads[thread] = part.clone()));
        part.words.clear();
        forged.push(with_lemma(certificate, number, |lemma| lemma.threads[thread] = part));
    }
    forged
}

/// The views that a lemma stands for, told with other groups. These are proofs if the groups are right.
fn regroup(model: &Model, certificate: &Certificate, number: usize, rng: &mut Rng) -> Vec<Certificate> {
    let Some(claim) = Claim::of(model, &certificate.lemmas[number]) else { return vec![] };
    let right = largest_groups(model);
    let any = vec![0; right.len()];
    let mut groupings = vec![right.clone(), (0..right.len()).collect(), any.clone()];
    (0..4).for_each(|_| groupings.extend([split(&right, rng), split(&any, rng)]));
    groupings.iter().map(|leaders| with_lemma(certificate, number, |lemma| *lemma = claim.folded(leaders))).collect()
}

/// Rows with the words of a group in another order, instead of and beside those that are right.
fn disorder(certificate: &Certificate, number: usize, rng: &mut Rng) -> Vec<Certificate> {
    let leaders = claimed_groups(&certificate.lemmas[number]);
    let mut forged = Vec::new();
    for (row, cells) in cells(&certificate.lemmas[number]).iter().enumerate() {
        let other: Vec<_> = arrangements(&leaders, cells).into_iter().filter(|other| other != cells).collect();
        if !other.is_empty() {
            let other = &other[rng.usize(0..other.len())];
            forged.push(with_table(certificate, number, |table| table[row].clone_from(other)));
            forged.push(with_table(certificate, number, |table| table.push(other.clone())));
        }
    }
    let unfold = |table: &Vec<Vec<u32>>| table.iter().flat_map(|row| arrangements(&leaders, row)).collect();
    forged.push(with_table(certificate, number, |table| *table = unfold(table)));
    forged
}

/// Rows with one cell changed, or one more such row, and the order put right.
fn change_orbits(model: &Model, certificate: &Certificate, number: usize, rng: &mut Rng) -> Vec<Certificate> {
    let lemma = &certificate.lemmas[number];
    let leaders = claimed_groups(lemma);
    let mut forged = Vec::new();
    for _ in 0..8 {
        let row = rng.usize(0..lemma.views.len());
        let mut changed = lemma.views.get(row).to_vec();
        match rng.usize(0..changed.len()) {
            0 => changed[0] = rng.u32(0..model.shared().count()),
            cell => changed[cell] = rng.u32(0..lemma.threads[leaders[cell - 1]].words.len() as u32),
        }
        let changed = sort(&leaders, &changed);
        forged.push(with_table(certificate, number, |table| table[row].clone_from(&changed)));
        forged.push(with_table(certificate, number, |table| table.push(changed)));
    }
    forged
}

/// The words of a lemma with other numbers, and the rows with these numbers as they come. It is the same proof once
/// the order within the rows is put right.
fn renumber(lemma: &mut Lemma, rng: &mut Rng) {
    let leaders = claimed_groups(lemma);
    let mut table = cells(lemma);
    for leader in (0..leaders.len()).filter(|&thread| leaders[thread] == thread) {
        let words = &mut lemma.threads[leader].words;
        let mut order: Vec<_> = (0..words.len()).collect();
        rng.shuffle(&mut order);
        *words = order.iter().map(|&word| words[word].clone()).collect();
        let number = |cell: u32| order.iter().position(|&word| word == cell as usize).expect("a word") as u32;
        for thread in (0..leaders.len()).filter(|&thread| leaders[thread] == leader) {
            table.iter_mut().for_each(|row| row[thread + 1] = number(row[thread + 1]));
        }
    }
    set_cells(lemma, table);
}

fn put_in_order(lemma: &mut Lemma) {
    let leaders = claimed_groups(lemma);
    let table = cells(lemma).iter().map(|row| sort(&leaders, row)).collect();
    set_cells(lemma, table);
}

/// The same proof with other numbers, with and without the order put right; and then with something missing or added.
fn number_anew(model: &Model, certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let mut forged = certificate.clone();
    forged.lemmas.iter_mut().for_each(|lemma| renumber(lemma, rng));
    let mut ordered = forged.clone();
    ordered.lemmas.iter_mut().for_each(put_in_order);
    let last = certificate.lemmas.len() - 1;
    [drop_views(&ordered), change_orbits(model, &ordered, last, rng), vec![forged, ordered]].concat()
}

/// A claim with a view more than can be reached and what follows from it, without regard to symmetry.
fn widened(model: &Model, lemma: &Lemma, rng: &mut Rng) -> Option<Claim> {
    let mut claim = Claim::of(model, lemma)?;
    let words = claim.order.iter().map(|words| words[rng.usize(0..words.len())].clone()).collect();
    claim.views.insert((rng.u32(0..model.shared().count()), words));
    claim.closed(model, &[])
}

/// A later lemma with groups, after an earlier one that has too much. Some views of the earlier one, but not all that
/// follow from them, are in the later one as well: of the orbits that are missing there, the earlier one may have a part.
fn lean_on_too_much(sample: &Sample, rng: &mut Rng) -> Vec<Certificate> {
    let Sample { model, certificate, .. } = sample;
    let right = largest_groups(model);
    let mut forged = Vec::new();
    for _ in 0..8 {
        let Some(wide) = widened(model, &certificate.lemmas[0], rng) else { continue };
        let mut lean = |later: &Claim, rng: &mut Rng| {
            for (one, other) in [((0..right.len()).collect(), right.clone()), (split(&right, rng), split(&right, rng))]
            {
                let mut lemmas = vec![wide.folded(&one), later.folded(&other)];
                lemmas.iter_mut().for_each(|lemma| renumber(lemma, rng));
                lemmas.iter_mut().for_each(put_in_order);
                forged.push(Certificate { lemmas, ..certificate.clone() });
            }
        };
        let earlier = std::slice::from_ref(&wide);
        Claim::least(model, rng.usize(1..=2), earlier).into_iter().for_each(|later| lean(&later, rng));
        let Some(mut later) = Claim::least(model, wide.depth, earlier) else { continue };
        later.below.clone_from(&wide.below);
        for _ in 0..4 {
            let more = wide.views.iter().nth(rng.usize(0..wide.views.len())).expect("there are so many");
            later.views.insert(more.clone());
            lean(&later, rng);
        }
    }
    forged
}

/// All of these.
pub(crate) fn regroupings(sample: &Sample, rng: &mut Rng) -> Vec<Certificate> {
    let Sample { model, certificate, .. } = sample;
    let mut forged = lean_on_too_much(sample, rng);
    for number in 0..certificate.lemmas.len() {
        forged.extend(change_likes(certificate, number));
        forged.extend(regroup(model, certificate, number, rng));
        forged.extend(disorder(certificate, number, rng));
        forged.extend(change_orbits(model, certificate, number, rng));
    }
    (0..2).for_each(|_| forged.extend(number_anew(model, certificate, rng)));
    forged
}
