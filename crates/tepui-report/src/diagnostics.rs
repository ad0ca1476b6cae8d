//! Diagnostics with their place in the source.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tepui_lang::diagnostic::{Diagnostic, Severity};
use tepui_lang::source::Source;

use crate::{visible, visible_lines};

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
    let hint = diagnostic.hint.as_deref().map(visible_lines);
    let mut group =
        level.primary_title(visible_lines(&diagnostic.message)).elements(Vec::<annotate_snippets::Message<'_>>::new());
    if let Some(source) = sources.get(diagnostic.source).copied().flatten() {
        // A picture takes more bytes than what it stands for.
        let place = |offset: usize| visible_lines(&source.text[..offset]).len();
        let span = place(diagnostic.span.start)..place(diagnostic.span.end);
        let annotation = AnnotationKind::Primary.span(span).label(visible_lines(&diagnostic.label));
        group = group
            .element(Snippet::source(visible_lines(&source.text)).path(visible(&source.name)).annotation(annotation));
    }
    if let Some(hint) = hint {
        group = group.element(Level::HELP.message(hint));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}
