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
    ("exclusive", Braces),
    ("exclusive with several", Braces),
    ("tasks bag", Braces),
    ("tasks fifo", Braces),
    ("tasks lifo", Braces),
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
    ("const", Braces),
    ("const that is computed", Braces),
    ("kind", Braces),
    ("record", Braces),
    ("several fields at once", Braces),
    ("field without a kind", Braces),
    ("semaphore declaration", Braces),
    ("barrier declaration", Braces),
    ("condition declaration", Braces),
    ("variables after a value", Braces),
    ("any number at first", Braces),
    ("any record at first", Braces),
    ("one value for all elements", Braces),
    ("list of values", Braces),
    ("list of lists of values", Braces),
    ("shared array", Braces),
    ("local array", Braces),
    ("parameter array", Braces),
    ("field array", Braces),
    ("lock array", Braces),
    ("semaphore array", Braces),
    ("barrier array", Braces),
    ("condition array", Braces),
    ("array of two dimensions", Braces),
    ("index with a name", Braces),
    ("index of a range", Braces),
    ("shared variable of a range", Braces),
    ("local variable of a range", Braces),
    ("parameter of a range", Braces),
    ("field of a range", Braces),
    ("shared variable of a record", Braces),
    ("local variable of a record", Braces),
    ("parameter of a record", Braces),
    ("field of a record", Braces),
    ("field of an enumeration", Braces),
    ("array of records", Braces),
    ("range with constants", Braces),
    ("results in brackets", Braces),
    ("result of a range", Braces),
    ("result of a record", Braces),
    ("a procedure called like an operation", Braces),
    ("number", Braces),
    ("- before an operand", Braces),
    ("element", Braces),
    ("field", Braces),
    ("element of an element", Braces),
    ("field of an element", Braces),
    ("element of a field", Braces),
    ("field of a field", Braces),
    ("'a[i]", Braces),
    ("product", Braces),
    ("+", Braces),
    ("-", Braces),
    ("/", Braces),
    ("%", Braces),
    ("<", Braces),
    ("<=", Braces),
    (">", Braces),
    (">=", Braces),
    ("an element as a target", Braces),
    ("a field as a target", Braces),
    ("lock of an array", Braces),
    ("condition of an array", Braces),
    ("for without braces", Braces),
    ("for over nothing", Braces),
    ("start of as many as a name says", Braces),
    ("start of as many as an expression says", Braces),
    ("a constant in an expression", Braces),
    ("any value of an array", Braces),
    ("any value of a record", Braces),
    ("any number", Braces),
    ("choice between arrays", Braces),
    ("choice between records", Braces),
    ("comparison of arrays", Braces),
    ("comparison of records", Braces),
    ("index of an enumeration", Braces),
    ("index in doubt", Braces),
    ("range in doubt", Braces),
    ("assignment of an array", Braces),
    ("assignment of a record", Braces),
    ("cas of an array", Braces),
    ("cas of a record", Braces),
    ("return of a record", Braces),
    ("argument that is an array", Braces),
    ("argument that is a record", Braces),
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
    ("start of any number", Braces),
    ("post", Braces),
    ("post of several", Braces),
    ("post of any number", Braces),
    ("yield", Braces),
    ("ASYNC call", Words),
    ("start at a label", Everywhere),
    ("exit", Everywhere),
    ("dead", Everywhere),
    ("dead with several", Everywhere),
    ("for over numbers", Braces),
    ("for over an enumeration", Braces),
    ("for over a kind", Braces),
    ("cas", Braces),
    ("cas with a result", Braces),
    ("fetch_add", Braces),
    ("fetch_add with a result", Braces),
    ("acquire", Braces),
    ("release", Braces),
    ("arrive", Braces),
    ("wait on a condition", Braces),
    ("signal", Braces),
    ("broadcast on a condition", Braces),
];

/// Operators that may stand left of another one: `:` is the end of `c ? a : b`.
const LEFT: [&str; 8] = ["&", "|", "^", "=", "!=", "=>", ":", "!"];

/// Operators that may stand right of another one.
const RIGHT: [&str; 7] = ["&", "|", "^", "=", "!=", "=>", "?"];

/// Operators on numbers: one for each level, and the sign before a number.
const OF_NUMBERS: [&str; 4] = ["<", "+", "*", "minus"];

/// Neighbours of which at least one is about numbers. What follows `=` and `<` on their own level is no number.
fn pairs_of_numbers() -> impl Iterator<Item = String> {
    let numbers = |left: &'static str| {
        let right: &[&str] = match left {
            "!" => &[],
            "=" | "!=" | "<" => &["+", "*"],
            _ => &["<", "+", "*"],
        };
        right.iter().map(move |right| format!("{left} before {right}"))
    };
    let others = |left: &'static str| RIGHT.iter().map(move |right| format!("{left} before {right}"));
    LEFT.into_iter().chain(OF_NUMBERS).flat_map(numbers).chain(OF_NUMBERS.into_iter().flat_map(others))
}

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
    let numbers = pairs_of_numbers().filter(|_| belongs(Braces));
    plain.chain(statements).chain(pairs).chain(numbers).map(|name| format!("{family}: {name}")).collect()
}
