//! What people write who think of another language, and what they should write instead.

use super::token::Kind;

/// A hint for a word that means something elsewhere.
pub(super) fn of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "unsigned" | "char" | "byte" | "long" | "short" => "a number has a range: `decl n: 0..7 := 0;`",
        "boolean" | "_Bool" | "var" | "let" | "bit" => "a variable is declared with `decl x := 0;`",
        "for" => "a loop over numbers is written `for i in 0..3 { ... }`",
        "do" => "a loop is written `while (c) { ... }`",
        "break" | "continue" => "there is no such statement; use `goto` and a label",
        "switch" | "case" | "match" => "use `if (c) { ... } else if (d) { ... }`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "fork" | "spawn" | "run" | "start" | "start_thread" | "async" => "a thread is started with `thread f();`",
        "join" => "there is no join; set a shared variable at the end of the thread, and `wait` for it",
        "synchronized" | "mutex" => "use `lock l;`, `lock(l);` and `unlock(l);`",
        "function" | "def" | "fn" | "proc" | "procedure" => {
            "a procedure is written `void f(a) { ... }` or `bool f(a) { ... }`"
        }
        "static" | "volatile" => "a variable is declared with `decl x := 0;`, a constant with `const N = 4;`",
        "struct" | "typedef" | "type" => "a record is written `record R { a; n: 0..7; }`, a kind `kind K = 0..7;`",
        _ => return None,
    })
}

/// A hint for a mark that means something elsewhere, or is used otherwise here.
pub(super) fn of_mark(kind: Kind, text: &str) -> Option<&'static str> {
    match (kind, text) {
        (Kind::Equal, _) => Some("a value is given with `:=`"),
        (Kind::Open, _) => Some("a call stands alone: `x := f(a);`"),
        (Kind::Plus | Kind::Minus, _) => Some("a number is changed with `n := n + 1;`"),
        (Kind::Word, _) => None,
        _ => of_stray(text),
    }
}

/// A hint for text that is no token at all.
pub(super) fn of_stray(text: &str) -> Option<&'static str> {
    match text.chars().next()? {
        '#' => Some("comments begin with `//`"),
        '"' => Some("there are no texts"),
        mark if mark.is_alphabetic() => Some("names consist of the letters a to z, digits and underscores"),
        _ => None,
    }
}
