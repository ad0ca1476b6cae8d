//! Numbers and statements as people read them.

/// The longest text of a statement that is shown.
const LONGEST: usize = 44;

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    if number == u64::MAX {
        return "2^64 or more".to_owned(); // Counts stop there.
    }
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things, the thing's name being given for one of them.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", grouped(number)) }
}

/// A statement, or its beginning.
pub fn cut(statement: &str) -> String {
    match statement.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ...", &statement[..end]),
        None => statement.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(grouped(u64::MAX), "2^64 or more");
        assert_eq!([0, 1, 2000].map(|number| count(number, "view")), ["0 views", "1 view", "2,000 views"]);
    }

    #[test]
    fn long_statements_are_cut_between_characters() {
        let longest = "ä".repeat(LONGEST);
        assert_eq!(cut(&longest), longest);
        assert_eq!(cut(&(longest.clone() + "b")), longest + " ...");
    }
}
