//! What there is: languages, engines and options, as the kinds list them. Help texts, listings and messages about options
//! that do not fit are made from here.

use tepui_core::Facts;

use crate::Error;
use crate::error::list;
use crate::kinds::{EngineInfo, Entry, KINDS, Language};

/// All languages, each once.
pub fn languages() -> impl Iterator<Item = &'static Language> {
    let mut all: Vec<_> = KINDS.iter().flat_map(|kind| kind.languages).collect();
    all.sort_by_key(|language| language.extension);
    all.into_iter()
}

/// All engines, each once; the first is the default.
pub fn engines() -> impl Iterator<Item = &'static EngineInfo> {
    let mut all: Vec<&EngineInfo> = Vec::new();
    for engine in KINDS.iter().flat_map(|kind| kind.engines) {
        if !all.iter().any(|known| known.facts == engine.facts) {
            all.push(engine);
        }
    }
    all.into_iter()
}

/// The engine with a name.
pub fn engine(name: &str) -> Option<&'static Facts> {
    engines().map(|engine| engine.facts).find(|facts| facts.name == name)
}

/// What an engine applies to, in words.
pub fn applies_to(engine: &Facts) -> String {
    let having = |kind: &&&Entry| kind.engines.iter().any(|own| own.facts == engine);
    let plurals: Vec<_> = KINDS.iter().filter(having).map(|kind| kind.plural.to_owned()).collect();
    let condition = engines().find(|own| own.facts == engine).and_then(|own| own.condition);
    list(&plurals, "and") + &condition.map_or(String::new(), |condition| format!(" {condition}"))
}

/// The forms in which models can be printed, each with what it is.
pub fn forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for &form in KINDS.iter().flat_map(|kind| kind.forms) {
        if !all.contains(&form) {
            all.push(form);
        }
    }
    all.into_iter()
}

/// Refuses options of the command line that mean nothing to models in the language of a file.
pub fn require_fitting(file: &str, flags: &[&str]) -> Result<(), Error> {
    let language = language(file)?;
    let own = |kind: &&&Entry| kind.reads(language);
    // Where a language has models of several kinds, one of them must fit.
    let mut fits = KINDS.iter().filter(own).map(|kind| fits_kind(kind, file, flags));
    let first = fits.next().unwrap_or(Ok(()));
    if first.is_err() && fits.any(|fits| fits.is_ok()) { Ok(()) } else { first }
}

/// The language of a file, by the extension of its name.
pub(crate) fn language(name: &str) -> Result<&'static Language, Error> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    let found = extension.and_then(|own| languages().find(|known| known.extension.eq_ignore_ascii_case(own)));
    found.ok_or_else(|| {
        let known = languages().map(|known| format!(".{}", known.extension)).collect();
        Error::UnknownLanguage { file: name.to_owned(), known }
    })
}

/// Refuses options that mean nothing to a kind, although they do to another.
pub(crate) fn fits_kind(kind: &Entry, file: &str, flags: &[&str]) -> Result<(), Error> {
    for flag in flags {
        // An option that kinds list is for these kinds, whatever engines say who are shared with others.
        let listed = KINDS.iter().any(|kind| kind.flags.contains(flag));
        let by_engine = |kind: &Entry| kind.engines.iter().any(|own| own.flags.contains(flag));
        let fits = |kind: &Entry| if listed { kind.flags.contains(flag) } else { by_engine(kind) };
        let others: Vec<_> = KINDS.iter().filter(|kind| fits(kind)).map(|kind| kind.plural.to_owned()).collect();
        if !others.is_empty() && !fits(kind) {
            return Err(misfit(kind, file, flag, &others));
        }
    }
    Ok(())
}

/// Refuses an engine that does not apply to a kind, and options that mean nothing to the kind or to the engine.
pub(crate) fn fits_engine(kind: &Entry, file: &str, engine: &'static Facts, flags: &[&str]) -> Result<(), Error> {
    let Some(chosen) = kind.engines.iter().find(|own| own.facts == engine) else {
        let having = |kind: &&&Entry| kind.engines.iter().any(|own| own.facts == engine);
        let others: Vec<_> = KINDS.iter().filter(having).map(|kind| kind.plural.to_owned()).collect();
        return Err(misfit(kind, file, &format!("--engine {}", engine.name), &others));
    };
    fits_kind(kind, file, flags)?;
    for flag in flags {
        let having = kind.engines.iter().filter(|own| own.flags.contains(flag));
        let names: Vec<_> = having.map(|own| own.facts.name.to_owned()).collect();
        if !names.is_empty() && !chosen.flags.contains(flag) {
            return Err(Error::Misuse(format!("{flag} is only for --engine {}", names.join(", "))));
        }
    }
    Ok(())
}

/// An option that is for other kinds of models.
fn misfit(kind: &Entry, file: &str, option: &str, others: &[String]) -> Error {
    let instead = kind.instead.iter().find(|(flag, _)| option.starts_with(flag));
    let instead = instead.map_or(String::new(), |(_, instead)| format!("; {instead}"));
    Error::Misuse(format!("{option} is only for {}, and {file} is {}{instead}", list(others, "and"), kind.what))
}
