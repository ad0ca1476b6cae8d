//! The productions of the grammars, by name, so that it can be counted which of them a set of programs uses.

use super::Dialect;

/// In which dialects a production is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// In all.
    Everywhere,
    /// In Tepui's own.
    Braces,
    /// In those with `begin` and `end`.
    Words,
    /// In those with `begin` and `end`, if they are not for Getafix.
    Main,
    /// In those for Getafix.
    Getafix,
}

use Where::{Braces, Everywhere, Getafix, Main, Words};

/// All productions, but for statements, which may have labels or not, and neighbouring operators.
pub const PRODUCTIONS: &[(&str, Where)] = &[
    ("line comment", Everywhere),
    ("block comment", Everywhere),
    ("shared declaration", Everywhere),
    ("shared declaration of several", Everywhere),
    ("local declaration", Everywhere),
    ("local declaration of several", Everywhere),
    ("a local hides a shared variable", Everywhere),
    ("one value for one variable", Braces),
    ("one value for several variables", Braces),
    ("a value for each of several variables", Braces),
    ("any value at first", Braces),
    ("value of an enumeration at first", Braces),
    ("enumeration", Braces),
    ("shared variable of an enumeration", Braces),
    ("local variable of an enumeration", Braces),
    ("parameter of an enumeration", Braces),
    ("result of an enumeration", Braces),
    ("lock declaration", Braces),
    ("`: bool`", Braces),
    ("a kind for several variables", Braces),
    ("enumeration in a declaration", Braces),
    ("a value for the last group", Braces),
    ("no parameters", Everywhere),
    ("one parameter", Everywhere),
    ("several parameters", Everywhere),
    ("no result", Everywhere),
    ("one result", Everywhere),
    ("bool<n>", Everywhere),
    ("enforce", Everywhere),
    ("empty body", Everywhere),
    ("empty block", Everywhere),
    ("label at the end of a procedure", Everywhere),
    ("label at the end of a block", Everywhere),
    ("several labels", Everywhere),
    ("the label `label`", Everywhere),
    ("the word `label`", Words),
    ("a number as a label", Everywhere),
    ("empty statement", Everywhere),
    ("label on empty statement", Everywhere),
    ("empty statement as a block", Braces),
    ("no semicolon at the end of a block", Words),
    ("a label called like a variable", Everywhere),
    ("a name that is a keyword elsewhere", Everywhere),
    ("T or F as a name", Braces),
    ("else", Everywhere),
    ("no else", Everywhere),
    ("else if", Braces),
    ("elsif", Words),
    ("block without braces", Braces),
    ("atomic block without braces", Braces),
    ("condition without brackets", Everywhere),
    ("condition in brackets", Everywhere),
    ("atomic block that begins an atomic block", Braces),
    ("label on a block that begins a block", Braces),
    ("label on the first statement of an atomic block", Braces),
    ("empty atomic block", Braces),
    ("empty atomic block that begins an atomic block", Braces),
    ("label in an empty atomic block", Braces),
    ("a procedure calls itself", Everywhere),
    ("goto with several labels", Everywhere),
    ("`_` takes a result", Everywhere),
    ("a call drops results", Everywhere),
    ("return of several values", Everywhere),
    ("return of one value", Everywhere),
    ("constant 0", Everywhere),
    ("constant 1", Everywhere),
    ("constant false", Everywhere),
    ("constant true", Everywhere),
    ("constant T", Words),
    ("constant F", Words),
    ("variable", Everywhere),
    ("'x", Everywhere),
    ("*", Everywhere),
    ("!", Everywhere),
    ("schoose", Everywhere),
    ("brackets", Everywhere),
    ("?:", Everywhere),
    ("&", Everywhere),
    ("&&", Everywhere),
    ("|", Everywhere),
    ("||", Everywhere),
    ("^", Everywhere),
    ("=", Everywhere),
    ("==", Everywhere),
    ("!=", Everywhere),
    ("=>", Everywhere),
    ("init", Getafix),
    ("no init", Getafix),
    ("main", Getafix),
    ("no main", Getafix),
    ("init has a caller", Getafix),
    ("main has a caller", Getafix),
    ("init ends its thread", Getafix),
    ("a thread with parameters", Getafix),
    ("a procedure that nobody calls", Main),
];

/// The statements.
const STATEMENTS: &[(&str, Where)] = &[
    ("assignment", Everywhere),
    ("assignment of several", Everywhere),
    ("constrained assignment", Everywhere),
    ("call", Everywhere),
    ("call with a result", Everywhere),
    ("call with several results", Everywhere),
    ("return", Everywhere),
    ("if", Everywhere),
    ("while", Everywhere),
    ("goto", Everywhere),
    ("skip", Everywhere),
    ("assert", Everywhere),
    ("named assert", Braces),
    ("assume", Everywhere),
    ("wait for a condition", Braces),
    ("lock", Braces),
    ("unlock", Braces),
    ("atomic block", Braces),
    ("atomic_begin", Everywhere),
    ("atomic_end", Everywhere),
    ("sleep", Everywhere),
    ("broadcast", Everywhere),
    ("start", Everywhere),
    ("start of several", Braces),
    ("ASYNC call", Words),
    ("start at a label", Everywhere),
    ("exit", Everywhere),
    ("dead", Everywhere),
    ("dead with several", Everywhere),
];

/// Operators that may stand left of another one: `:` is the end of `c ? a : b`.
const LEFT: [&str; 8] = ["&", "|", "^", "=", "!=", "=>", ":", "!"];

/// Operators that may stand right of another one.
const RIGHT: [&str; 7] = ["&", "|", "^", "=", "!=", "=>", "?"];

/// The families of dialects that are counted apart.
const FAMILIES: [&str; 3] = ["tepui", "begin-end", "getafix"];

/// What a dialect's counts begin with.
pub(super) fn family(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Tepui => FAMILIES[0],
        Dialect::Satabs | Dialect::Boppo => FAMILIES[1],
        Dialect::Getafix => FAMILIES[2],
    }
}

/// The names of all productions of all families, as [`super::read`] counts them.
pub fn productions() -> Vec<String> {
    FAMILIES.into_iter().flat_map(of_family).collect()
}

fn of_family(family: &'static str) -> Vec<String> {
    let belongs = move |place: Where| match place {
        Everywhere => true,
        Braces => family == FAMILIES[0],
        Words => family != FAMILIES[0],
        Main => family == FAMILIES[1],
        Getafix => family == FAMILIES[2],
    };
    let plain = PRODUCTIONS.iter().filter(|(_, place)| belongs(*place)).map(|(name, _)| (*name).to_owned());
    let statements = STATEMENTS.iter().filter(|(_, place)| belongs(*place));
    let statements = statements.flat_map(|(name, _)| [(*name).to_owned(), format!("label on {name}")]);
    let pairs = LEFT.iter().flat_map(|left| RIGHT.iter().map(move |right| format!("{left} before {right}")));
    plain.chain(statements).chain(pairs).map(|name| format!("{family}: {name}")).collect()
}
