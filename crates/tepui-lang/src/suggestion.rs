//! What may have been meant by a name that nobody knows.

use strsim::osa_distance;

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
        .map(|candidate| (osa_distance(word, candidate), candidate));
    let (_, best) = measured.filter(|&(distance, _)| distance <= near).min_by_key(|&(distance, _)| distance)?;
    Some(format!("did you mean `{best}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near() {
        let suggest = |word: &str| suggestion(word, ["idle", "busy", "done"].into_iter(), false);
        assert_eq!(suggest("idel").as_deref(), Some("did you mean `idle`?"));
        assert_eq!((suggest("ready"), suggest("d"), suggest("12")), (None, None, None));
    }
}
