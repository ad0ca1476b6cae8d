//! Nets in the form in which they are read.

use std::fmt::Write as _;

use tepui_model::counters::{Bag, Count, Net, Step};
use tepui_model::pushdown::Names;

/// The text of a net, if the form has all that is in it: there is one shared state, and no step asks where all others are.
pub fn print_spec(net: &Net) -> Result<String, String> {
    if net.shared.count() != 1 {
        return Err("a .spec file has no shared states".to_owned());
    }
    let name = |place: u32| match &net.places {
        Names::Numbers(_) => format!("x{place}"),
        Names::List(names) => names[place as usize].clone(),
    };
    let all: Vec<_> = (0..net.places.count()).map(name).collect();
    let mut out = format!("vars\n  {}\n\nrules\n", all.join(" "));
    for step in &net.steps {
        let updates = (0..net.places.count()).map(|place| update(step, place, &all));
        let updates: Vec<_> = updates.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let guard = if step.taken.is_empty() { "true".to_owned() } else { at_least(&step.taken, &all) };
        let _ = writeln!(out, "  {guard} -> {};", updates.join(", "));
    }
    let start =
        |(name, count): (&String, &Count)| format!("{name} {} {}", if count.or_more { ">=" } else { "=" }, count.least);
    let start: Vec<_> = all.iter().zip(&net.counts).map(start).collect();
    let _ = writeln!(out, "\ninit\n  {}\n\ntarget", start.join(", "));
    for pattern in net.properties.iter().flat_map(|property| &property.never) {
        let counts =
            if pattern.counts.is_empty() { format!("{} >= 0", all[0]) } else { at_least(&pattern.counts, &all) };
        let _ = writeln!(out, "  {counts}");
    }
    Ok(out)
}

fn at_least(bag: &Bag, names: &[String]) -> String {
    bag.iter().map(|&(place, count)| format!("{} >= {count}", names[place as usize])).collect::<Vec<_>>().join(", ")
}

/// What a place holds after a step, if that is not what it held before.
fn update(step: &Step, place: u32, names: &[String]) -> Result<Option<String>, String> {
    if step.others.is_some() {
        return Err("a .spec file cannot say where all other threads are".to_owned());
    }
    let count =
        |bag: &Bag, place: u32| bag.iter().find(|(own, _)| *own == place).map_or(0, |(_, count)| i64::from(*count));
    let from: Vec<u32> = (0..names.len() as u32).filter(|from| step.goes(*from) == Some(place)).collect();
    let taken = from.iter().map(|from| count(&step.taken, *from));
    let change = count(&step.put, place) - taken.clone().sum::<i64>();
    if from != [place] && taken.max().unwrap_or(0) < -change {
        return Err(
            "a .spec file cannot take threads from several places and put those that are left into one".to_owned()
        );
    }
    if from == [place] && change == 0 {
        return Ok(None);
    }
    let mut sum = from.iter().map(|from| names[*from as usize].clone()).collect::<Vec<_>>().join(" + ");
    match change {
        _ if sum.is_empty() => sum = change.to_string(),
        0 => {}
        1.. => sum += &format!(" + {change}"),
        _ => sum += &format!(" - {}", -change),
    }
    Ok(Some(format!("{}' = {sum}", names[place as usize])))
}
