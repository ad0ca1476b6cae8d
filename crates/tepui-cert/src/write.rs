//! What all text forms share where they are written. Nobody has to believe this half: what counts is what is read.

use tepui_model::Digest;
use tepui_model::pushdown::Property;

/// The text with its seal: a last line that holds the digest of all lines before it.
pub fn sealed(body: &str) -> String {
    let seal = Digest::of(body.as_bytes());
    format!("{body}end {seal}\n")
}

/// A remark as it may stand behind a `#`: on one line.
pub(crate) fn comment_text(remark: &str) -> String {
    remark.replace(['\n', '\r'], " ")
}

/// Writes a property: its name, then one line for each pattern, `*` for anything.
pub(crate) fn write_property(out: &mut String, property: &Property) {
    let part = |part: Option<u32>| part.map_or("*".to_owned(), |number| number.to_string());
    out.push_str(&format!("property {}\n", property.name));
    for pattern in &property.never {
        let tops: Vec<_> = pattern.tops.iter().map(|top| part(top.map(|symbol| symbol.0))).collect();
        out.push_str(&format!("never {} | {}\n", part(pattern.shared.map(|shared| shared.0)), tops.join(" ")));
    }
}

/// Values, `-` where there is none.
pub(crate) fn values_text(numbers: &[Option<u32>]) -> String {
    let number = |number: &Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
    format!(": {}", numbers.iter().map(number).collect::<Vec<_>>().join(" "))
}
