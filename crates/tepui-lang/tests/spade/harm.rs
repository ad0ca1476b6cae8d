//! Damaged, long and large texts do no harm.

use super::*;

/// What must hold of every reading.
fn judge(source: &Source, result: &Result<Parsed, Vec<Diagnostic>>) {
    let said = match result {
        Ok(parsed) => &parsed.warnings,
        Err(errors) => errors,
    };
    let sound = |diagnostic: &Diagnostic| {
        source.text.get(diagnostic.span.clone()).is_some()
            && !diagnostic.message.is_empty()
            && (diagnostic.severity == Severity::Error) == result.is_err()
    };
    assert!(said.len() <= LIMIT + 1 && said.iter().all(sound), "{said:?}");
    assert!(result.is_ok() || !said.is_empty());
    if let Ok(parsed) = result {
        let never = &parsed.model.properties()[0].never;
        assert!((1..never.len()).all(|index| !never[..index].contains(&never[index])));
    }
}

/// Reads a text; whether it is accepted.
fn run(bytes: &[u8]) -> bool {
    let source = Source::new("x", bytes);
    let start = Instant::now();
    let outcome = std::panic::catch_unwind(|| {
        let result = read_spade(&source);
        judge(&source, &result);
        result.is_ok()
    });
    assert!(start.elapsed() < Duration::from_secs(60), "this text takes too long:\n{:.5000}", source.text);
    outcome.unwrap_or_else(|_| panic!("this text does harm:\n{:.5000}", source.text))
}

/// Changes one character, or cuts the text off.
fn damage(rng: &mut Rng, text: &str) -> Vec<u8> {
    const CHARACTERS: &[u8] = b"()(),->:!?*'_ \n\tabqsTS0129\xff\0";
    let mut bytes = text.as_bytes().to_vec();
    let at = rng.usize(..bytes.len());
    let other = CHARACTERS[rng.usize(..CHARACTERS.len())];
    match rng.u8(..10) {
        0 => bytes.truncate(at),
        1..4 => drop(bytes.remove(at)),
        4..7 => bytes.insert(at, other),
        _ => bytes[at] = other,
    }
    bytes
}

const SUMS: &str = "Automaton bad States s e Final States e Transitions call -> s work -> s done -> e free -> s
    taken -> s seq(s, s) -> s seq(s, e) -> e seq(e, s) -> e seq(e, e) -> e idle -> s
    par(s, s) -> s par(s, e) -> e par(e, s) -> e par(e, e) -> e";

#[test]
fn damaged_texts_do_no_harm() {
    let lister = "Automaton init States p q r Final States r Transitions call -> p free -> q done -> p par(p, q) -> r";
    let own = [sample(), file(RULES, lister, SUMS), file(RULES, "Set init par(call, par(free, call))", SUMS)];
    let texts: Vec<_> = own.into_iter().chain(corpus_files().into_iter().map(|(_, text)| text)).collect();
    let rng = &mut Rng::with_seed(0x5bad);
    for text in texts {
        let accepted = (0..300).filter(|_| run(&damage(rng, &text))).count();
        assert!(accepted < 300);
    }
}

#[test]
fn length_is_no_harm() {
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0\nActs c\nSPAD\na -> a : c!\nb -> b : c?\n";
    let pieces = [
        "(*",
        "*)",
        "(",
        ")",
        "a ",
        "a:0 ",
        "seq(",
        "par(",
        "par(a, ",
        "seq(a, b) -> ",
        "a -> a : c! ",
        "Set ",
        "%",
        "é",
        "Set init ",
        "par(a, a) ",
        "par(p, q) -> p ",
        "Automaton ",
        "a -> p ",
        "-> ",
        ", ",
        "x",
        "\n",
        "(**)",
        "\0",
    ];
    let sections = [
        "",
        "Set init ",
        "Set init par(a, b) Set bad ",
        "Automaton init States p q Final States p Transitions a -> p b -> q ",
        "Set init par(a, b) Automaton bad States p q Final States p Transitions a -> p b -> q ",
        "Automaton bad States ",
    ];
    for piece in pieces {
        run(piece.repeat(300_000 / piece.len()).as_bytes());
        run(format!("Ops {}", piece.repeat(100_000 / piece.len())).as_bytes());
        for section in sections {
            run(format!("{start}{section}{}", piece.repeat(300_000 / piece.len())).as_bytes());
        }
    }
}

#[test]
fn size_is_no_harm() {
    let nested =
        |operator: &str, depth: usize| format!("{}a{}", format!("{operator}(b, ").repeat(depth), ")".repeat(depth));
    let wide = (1..200).fold("a".to_owned(), |tree, _| format!("par({tree}, b)"));
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0\nActs c\nSPAD\na -> b : c!\nb -> a : c?\nb -> idle : Tau\na -> seq(a, a) : Tau\n";
    let bad = "Automaton bad States s e Final States e Transitions a -> s b -> e seq(s, s) -> s seq(s, e) -> e
        seq(e, s) -> e seq(e, e) -> e par(s, s) -> s par(s, e) -> e par(e, s) -> e par(e, e) -> e";
    assert!(run(format!("{start}Set init {} {bad}", nested("seq", 4_000)).as_bytes()));
    assert!(!run(format!("{start}Set init {} {bad}", nested("seq", 40_000)).as_bytes()));
    assert!(run(format!("{start}Set init {} {bad}", nested("par", 60)).as_bytes()));
    run(format!("{start}Set init {wide} {bad}").as_bytes());
    run(format!("{start}Set init {wide} Set bad {}", nested("par", 100)).as_bytes());
    let comb = |count: usize| (1..count).fold("a".to_owned(), |tree, _| format!("par(b, {tree})"));
    run(format!("{start}Set init {} Set bad {}", comb(40), comb(20)).as_bytes());
    let rng = &mut Rng::with_seed(0xb16);
    let states = 40;
    let mut state = || format!("q{}", rng.usize(..states));
    let names: String = (0..states).map(|number| format!("q{number} ")).collect();
    let random: String = (0..3_000)
        .map(|number| match number {
            0..100 => format!("a -> {}\nb -> {}\nidle -> {}\n", state(), state(), state()),
            _ => format!("par({}, {}) -> {}\n", state(), state(), state()),
        })
        .collect();
    let bad = format!("Automaton bad States {names} Final States q0 q1 Transitions {random}");
    run(format!("{start}Set init {} {bad}", nested("par", 20)).as_bytes());

    let states = 300;
    let names: String = (0..states).map(|number| format!("q{number} ")).collect();
    for idle in [0, 30] {
        let mut state = || format!("q{}", rng.usize(..states));
        let leaves: String = (0..300).map(|_| format!("a -> {}\nb -> {}\n", state(), state())).collect();
        let idle: String = (0..idle).map(|_| format!("idle -> {}\n", state())).collect();
        let both: String =
            (0..15_000).map(|_| format!("par(q1, {}) -> {}\nseq({1}, {0}) -> {0}\n", state(), state())).collect();
        let bad = format!("Automaton bad States {names} Final States q0 q1 Transitions {leaves}{idle}{both}");
        run(format!("{start}Set init {} {bad}", nested("par", 20)).as_bytes());
        run(format!("{start}{} Set bad a", bad.replace("Automaton bad", "Automaton init")).as_bytes());
    }
    let chain: String = (0..9_000).map(|number| format!("seq(q0, q{number}) -> q{}\n", number + 1)).collect();
    let names: String = (0..=9_000).map(|number| format!("q{number} ")).collect();
    for last in [4_000, 9_000] {
        let init = format!("Automaton init States {names} Final States q{last} Transitions a -> q0 {chain}");
        run(format!("{start}{init} Set bad a").as_bytes());
    }
    let terms: String =
        (0..5_000).map(|number| format!("par(par({0}, {0}), par({0}, {0}))\n", nested("seq", number % 50))).collect();
    run(format!("{start}Set init par(par(seq(a, b), a), par(a, a)) Set bad {terms}").as_bytes());
    let acts: String = (0..2_000).map(|number| format!("c{number} ")).collect();
    let rules: String = (0..2_000).map(|number| format!("a -> b : c{number}!\nb -> a : c{number}?\n")).collect();
    for threads in [5, 60, 200] {
        let init = (1..threads).fold("a".to_owned(), |tree, _| format!("par({tree}, b)"));
        run(format!("Ops seq:2 par:2 idle:0 a:0 b:0 Acts {acts} SPAD\n{rules} Set init {init} Set bad {init}")
            .as_bytes());
    }
}
