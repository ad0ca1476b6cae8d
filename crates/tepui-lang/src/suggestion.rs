//! What may have been meant by a name that nobody knows.

/// A hint that names the candidate nearest to a word, if one is near enough to be what was meant. Once there are
/// `enough` messages none is looked for, since all pairs of words would take time that grows with the square of the
/// text.
pub(crate) fn suggestion<'b>(word: &str, candidates: impl Iterator<Item = &'b str>, enough: bool) -> Option<String> {
    const LONGEST: usize = 40;
    const MOST: usize = 10_000;
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    if word.len() < 2 || word.len() > LONGEST || is_number || enough {
        return None;
    }
    let near = (word.chars().count() / 3).max(1);
    let measured = (candidates.take(MOST).filter(|candidate| candidate.len() <= LONGEST))
        .map(|candidate| (distance(word, candidate), candidate));
    let (_, best) = measured.filter(|&(distance, _)| distance <= near).min_by_key(|&(distance, _)| distance)?;
    Some(format!("did you mean `{best}`?"))
}

/// How many characters have to be inserted, deleted, replaced or swapped with their neighbour to turn one word into
/// the other (the optimal string alignment distance).
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 0..one.len() {
        let mut row = vec![i + 1];
        for j in 0..other.len() {
            let replaced = last[j] + usize::from(one[i] != other[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("", "", 0), ("", "ab", 2), ("idle", "idel", 1), ("busy", "bsy", 1), ("loop", "pool", 2), ("a", "b", 1)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn suggestions_are_near() {
        let suggest = |word: &str| suggestion(word, ["idle", "busy", "done"].into_iter(), false);
        assert_eq!(suggest("idel").as_deref(), Some("did you mean `idle`?"));
        assert_eq!((suggest("ready"), suggest("d"), suggest("12")), (None, None, None));
    }
}
