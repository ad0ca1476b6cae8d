//! How certificates about counters are written.

use std::fmt::Write as _;

use tepui_model::counters::Pattern;

use super::{Certificate, Lemma, Row, Views, Weight};
use crate::write::sealed;

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nmodel {}\n", Self::HEAD, self.model);
        for property in &self.claims {
            let _ = writeln!(out, "property {}", property.name);
            write_patterns(&mut out, &property.never);
        }
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        sealed(&out)
    }
}

impl Lemma {
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Weight(weight) => write_weight(out, weight),
            Self::Views(views) => write_views(out, views),
            Self::Never(patterns) => {
                out.push_str("lemma never\n");
                write_patterns(out, patterns);
            }
        }
    }
}

fn write_patterns(out: &mut String, patterns: &[Pattern]) {
    for pattern in patterns {
        let _ = writeln!(out, "never {} |{}", pattern.shared, times(&pattern.counts));
    }
}

fn write_weight(out: &mut String, weight: &Weight) {
    let _ = writeln!(out, "lemma weight {}\nweigh{} |{}", weight.bound, times(&weight.shared), times(&weight.places));
}

/// Rows that differ in the last thread only are on one line, and consecutive places are a range.
fn write_views(out: &mut String, views: &Views) {
    let split = |(shared, row): &Row| {
        let (last, first) = row.split_last().map_or((0, Vec::new()), |(last, first)| (*last, first.to_vec()));
        (*shared, first, last)
    };
    let rows: Vec<_> = views.rows.iter().map(split).collect();
    let groups: Vec<_> = rows.chunk_by(|one, other| (one.0, &one.1) == (other.0, &other.1)).collect();
    let _ = writeln!(out, "lemma views {}\nrows {}", views.size, groups.len());
    for group in groups {
        let first: String = group[0].1.iter().map(|place| format!(" {place}")).collect();
        let lasts = group.chunk_by(|one, other| one.2 + 1 == other.2).map(|run| match run {
            [one] => format!(" {}", one.2),
            _ => format!(" {}-{}", run[0].2, run[run.len() - 1].2),
        });
        let _ = writeln!(out, "{} |{first} :{}", group[0].0, lasts.collect::<String>());
    }
}

/// Numbers with how often they count.
pub(super) fn times<N: std::fmt::Display>(counts: &[(u32, N)]) -> String {
    counts.iter().map(|(number, count)| format!(" {number}*{count}")).collect()
}
