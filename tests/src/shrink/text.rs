//! Programs as text, made smaller: lines, blocks, statements and words are left out. Whether the rest is still a program,
//! a reader decides.

/// The lengths of runs of words that are left out, whatever is in them: a block whose ends are words is such a run.
const RUNS_OF_WORDS: [usize; 12] = [20, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1];

/// Texts with something left out: lines, blocks and statements first, many of them at once, and runs of words in the end.
/// Lines and statements are left out together only if they have no bracket without its counterpart.
pub fn smaller_texts(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let statements: Vec<&str> = text.split_inclusive([';', '{', '}']).collect();
    let words: Vec<&str> = text.split_inclusive([' ', '\n', ';', '(', ')', ',']).collect();
    let mut found = without_runs(&lines);
    found.extend(without_blocks(text));
    found.extend(without_runs(&statements));
    for length in RUNS_OF_WORDS.into_iter().filter(|length| *length <= words.len()) {
        found.extend((0..=words.len() - length).map(|from| without(&words, from, length)));
    }
    found
}

/// The pieces but some that follow each other.
fn without(pieces: &[&str], from: usize, count: usize) -> String {
    [&pieces[..from], &pieces[from + count..]].concat().concat()
}

/// Runs of pieces left out: half of them, a quarter, and so on.
fn without_runs(pieces: &[&str]) -> Vec<String> {
    let lengths = std::iter::successors(Some(pieces.len() / 2), |length| Some(length / 2));
    let lengths = lengths.take_while(|length| *length > 0);
    let runs = lengths.flat_map(|length| (0..=pieces.len() - length).map(move |from| (from, length)));
    let balanced_runs = runs.filter(|&(from, length)| balanced(&pieces[from..from + length].concat()));
    balanced_runs.map(|(from, length)| without(pieces, from, length)).collect()
}

/// Whether every bracket and every word that is closed by another one has its counterpart.
fn balanced(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for token in tokens(text) {
        if let Some((_, closing)) = PAIRS.iter().find(|(opening, _)| *opening == token) {
            open.push(closing);
        } else if PAIRS.iter().any(|(_, closing)| *closing == token) && open.pop() != Some(token) {
            return false;
        }
    }
    open.is_empty()
}

const PAIRS: [(&str, &str); 5] = [("{", "}"), ("(", ")"), ("begin", "end"), ("then", "fi"), ("do", "od")];

/// Words and single characters that are none.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split_inclusive(move |c| !is_word(c)).flat_map(move |piece| {
        let end = piece.trim_end_matches(|c| !is_word(c)).len();
        [&piece[..end], &piece[end..]].into_iter().filter(|token| !token.is_empty())
    })
}

/// Blocks in braces left out with what precedes them in their line, or only their braces.
fn without_blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('{') {
        let Some(end) = closing(&text[start..]).map(|end| start + end) else { continue };
        let line = text[..start].rfind(['\n', ';', '}']).map_or(0, |before| before + 1);
        found.push(format!("{}{}", &text[..line], &text[end + 1..]));
        found.push(format!("{}{}{}", &text[..line], &text[start + 1..end], &text[end + 1..]));
    }
    found
}

/// Where the brace closes that opens a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(place),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::{Dialect, read};
    use crate::shrink::{TRIES, shrink};

    const PROGRAM: &str = "decl x, y;
decl z;
void unused(a) { x := a; }
void worker() {
  if (y) { x := 1; assert(x); }
  while (*) { y := !y; z := 1; }
}
void main() {
  x := 0;
  thread worker();
}";

    #[test]
    fn a_program_shrinks_to_what_is_needed() {
        let needed = |text: &String| {
            let reads = read(text, Dialect::Tepui).is_ok();
            (reads && text.contains("assert") && text.contains("thread")).then_some(())
        };
        let (small, ()) = shrink(&PROGRAM.to_owned(), TRIES, |text| smaller_texts(text), needed).unwrap();
        let words = small.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.len() < 75 && !words.contains("unused") && !words.contains("while"), "{small}");
    }

    #[test]
    fn every_text_is_smaller() {
        for text in [PROGRAM, "void main() begin if x then skip; fi; end", "}{", ""] {
            assert!(smaller_texts(text).iter().all(|smaller| smaller.len() < text.len()), "{text}");
        }
    }

    #[test]
    fn pairs_stay_together() {
        assert!(balanced("if x then skip; fi; f(a);") && balanced("begin_with end_of"));
        assert!(!balanced("then") && !balanced("begin }") && !balanced("} {") && !balanced("( begin ) end"));
    }
}
