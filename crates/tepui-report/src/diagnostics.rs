//! Diagnostics with their place in the source.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tepui_lang::diagnostic::{Diagnostic, Severity};
use tepui_lang::source::Source;

/// All diagnostics, one after the other, each with file, line, column, snippet and hint. A source may be absent,
/// where a diagnostic says that it is.
pub fn render(diagnostics: &[Diagnostic], sources: &[Option<&Source>]) -> String {
    diagnostics.iter().map(|diagnostic| render_one(diagnostic, sources) + "\n").collect()
}

fn render_one(diagnostic: &Diagnostic, sources: &[Option<&Source>]) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group =
        level.primary_title(diagnostic.message.as_str()).elements(Vec::<annotate_snippets::Message<'_>>::new());
    if let Some(source) = sources.get(diagnostic.source).copied().flatten() {
        let annotation = AnnotationKind::Primary.span(diagnostic.span.clone()).label(diagnostic.label.as_str());
        group = group.element(Snippet::source(source.text.as_str()).path(source.name.as_str()).annotation(annotation));
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}
