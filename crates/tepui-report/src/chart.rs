//! Executions in which messages are sent, as charts: a column for each actor, time runs downwards, arrows are messages.

use std::fmt::Write as _;

use tepui_core::story::{Move, Situation, Step, Story, Unit};
use tepui_core::text::cut;

use crate::human::{BOLD, DIM, colour, paint};
use crate::visible;

/// The widest chart that is printed. With more or busier actors, all is listed instead.
const WIDEST: usize = 160;

/// How wide a column is at least and at most.
const COLUMN: std::ops::RangeInclusive<usize> = 14..=34;

/// Steps that are drawn of a long execution: so many at its start and at its end.
const SHOWN_AT_ENDS: usize = 40;

/// What stands at the left edge: the number of the step and its place.
const EDGE: usize = 6;

/// Whether a story is one of messages.
pub(crate) fn is_chart(story: &Story) -> bool {
    story.unit == Unit::Steps && story.steps.iter().any(|step| !step.messages.is_empty())
}

/// For people: as a chart, if it is narrow enough.
pub(crate) fn render(story: &Story) -> String {
    let width = column(story);
    if EDGE + width * story.actors.len() > WIDEST {
        return listed(story);
    }
    let mut chart = Chart { story, width, alive: vec![false; story.actors.len()], out: String::new() };
    chart.alive[0] = true;
    chart.heads();
    for (number, step) in story.steps.iter().enumerate() {
        let middle = SHOWN_AT_ENDS..story.steps.len().saturating_sub(SHOWN_AT_ENDS);
        if middle.len() > 1 && middle.contains(&number) {
            if number == middle.start {
                let _ = writeln!(chart.out, "  {}", paint(DIM, &format!("... {} more steps ...", middle.len())));
            }
            chart.note_created(step);
            continue;
        }
        chart.step(number, step);
    }
    for end in &story.end {
        let _ = writeln!(chart.out, "    {}", paint(colour(tepui_core::Status::Unsafe), &visible(end)));
    }
    chart.out
}

/// Who does what, and what is sent to whom.
fn listed(story: &Story) -> String {
    let name = |actor: usize| story.actors.get(actor).map_or("?", String::as_str);
    let mut out = String::new();
    for (number, step) in story.steps.iter().enumerate() {
        let Some(own) = step.moves.first() else { continue };
        let middle = SHOWN_AT_ENDS..story.steps.len().saturating_sub(SHOWN_AT_ENDS);
        if middle.len() > 1 && middle.contains(&number) {
            if number == middle.start {
                let _ = writeln!(out, "  {}", paint(DIM, &format!("... {} more steps ...", middle.len())));
            }
            continue;
        }
        let actor = paint(BOLD, &visible(name(own.actor)));
        let _ = writeln!(out, "  {:<4}{actor} {}", number + 1, visible(&told(step, own)));
        for message in &step.messages {
            let text = match message.from == message.to {
                true => message.text.clone(),
                false => format!("{} <- {}", name(message.to), message.text),
            };
            let _ = writeln!(out, "        {}", visible(&text));
        }
    }
    for end in &story.end {
        let _ = writeln!(out, "    {}", paint(colour(tepui_core::Status::Unsafe), &visible(end)));
    }
    out
}

/// What an actor does, what that changes, and where it stands.
fn told(step: &Step, own: &Move) -> String {
    let place = match (&own.file, own.line) {
        (Some(file), line @ 1..) => format!("  [{}:{line}]", name_of(file)),
        _ => String::new(),
    };
    let changed: String = match &step.after {
        Situation::Values(values) => values.iter().map(|(name, value)| format!("; {name} = {}", cut(value))).collect(),
        Situation::State(_) => String::new(),
    };
    format!("{}{changed}{place}", own.text)
}

/// How wide columns are: as wide as what stands in them.
fn column(story: &Story) -> usize {
    let names = story.actors.iter().map(|name| name.chars().count() + 2);
    let messages = story.steps.iter().flat_map(|step| &step.messages).map(|one| one.text.chars().count() + 7);
    let widest = names.chain(messages).max().unwrap_or(0);
    widest.clamp(*COLUMN.start(), *COLUMN.end())
}

struct Chart<'s> {
    story: &'s Story,
    width: usize,
    /// Who is there.
    alive: Vec<bool>,
    out: String,
}

impl Chart<'_> {
    /// The line of a column.
    fn at(&self, actor: usize) -> usize {
        EDGE + actor * self.width
    }

    /// The lifelines of those who are there.
    fn lines(&self) -> Vec<char> {
        let mut line = vec![' '; self.at(self.story.actors.len())];
        for (actor, alive) in self.alive.iter().enumerate() {
            if *alive {
                line[self.at(actor)] = '│';
            }
        }
        line
    }

    fn push(&mut self, line: &[char]) {
        let text: String = line.iter().collect();
        let _ = writeln!(self.out, "{}", text.trim_end());
    }

    fn heads(&mut self) {
        let mut line = vec![' '; self.at(self.story.actors.len())];
        for (actor, name) in self.story.actors.iter().enumerate() {
            write_at(&mut line, self.at(actor), &visible(name), self.width - 1);
        }
        let text: String = line.iter().collect();
        let _ = writeln!(self.out, "{}", paint(BOLD, text.trim_end()));
    }

    fn note_created(&mut self, step: &Step) {
        step.messages.iter().for_each(|one| self.alive[one.to] = true);
    }

    fn step(&mut self, number: usize, step: &Step) {
        let Some(own) = step.moves.first() else { return };
        let mut line = self.lines();
        write_at(&mut line, 2, &(number + 1).to_string(), EDGE - 2);
        line[self.at(own.actor)] = '●';
        let text = visible(&told(step, own)).into_owned();
        let start = self.at(own.actor) + 2;
        let room = text.chars().count();
        line.truncate(line.len().max(start + room));
        line.resize(line.len().max(start + room + 1), ' ');
        write_at(&mut line, start, &text, room);
        self.push(&line);
        for message in &step.messages {
            let mut line = self.lines();
            if message.from == message.to {
                let text = visible(&message.text).into_owned();
                let start = self.at(message.from);
                line.resize(line.len().max(start + text.chars().count() + 4), ' ');
                write_at(&mut line, start, &format!("├─ {text}"), text.chars().count() + 3);
            } else {
                self.arrow(&mut line, message.from, message.to, &visible(&message.text));
            }
            self.alive[message.to] = true;
            self.push(&line);
        }
    }

    fn arrow(&self, line: &mut [char], from: usize, to: usize, text: &str) {
        let (left, right) = (self.at(from.min(to)), self.at(from.max(to)));
        line[left + 1..right].fill('─');
        (line[left], line[right]) = ('├', '┤');
        if from < to {
            line[right - 1] = '>';
        } else {
            line[left + 1] = '<';
        }
        let near =
            if from < to { left + 3 } else { (right - 1).saturating_sub(text.chars().count() + 2).max(left + 3) };
        write_at(line, near, &format!(" {text} "), (right - 1).saturating_sub(near));
    }
}

/// The last part of a path.
fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn write_at(line: &mut [char], at: usize, text: &str, room: usize) {
    for (place, c) in line.iter_mut().skip(at).take(room).zip(text.chars()) {
        *place = c;
    }
}

/// How far columns are apart in a drawing, and lines.
const APART: usize = 190;
const DOWN: usize = 22;
/// Where the first column stands, and the first line.
const LEFT: usize = 110;
const TOP: usize = 60;

/// As a drawing.
pub fn svg(story: &Story) -> String {
    let mut drawing = Drawing { story, y: TOP, since: vec![None; story.actors.len()], body: String::new() };
    if let Some(first) = drawing.since.first_mut() {
        *first = Some(TOP - 20);
    }
    story.steps.iter().enumerate().for_each(|(number, step)| drawing.step(number, step));
    for end in &story.end {
        drawing.text(20, "error", end);
        drawing.y += DOWN;
    }
    let (height, width) = (drawing.y + DOWN, LEFT + story.actors.len().max(1) * APART + 160);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n{STYLE}"
    );
    for (actor, name) in story.actors.iter().enumerate() {
        let x = LEFT + actor * APART;
        let start = drawing.since[actor].unwrap_or(TOP);
        let _ = writeln!(out, "<line class=\"life\" x1=\"{x}\" y1=\"{start}\" x2=\"{x}\" y2=\"{}\"/>", height - DOWN);
        let _ =
            writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"24\" text-anchor=\"middle\">{}</text>", escaped(name));
    }
    out + &drawing.body + "</svg>\n"
}

const STYLE: &str = "<style>
  text { fill: #222 } .name { font-weight: bold } .life { stroke: #bbb } .send { stroke: #2563eb; stroke-width: 1.5 }
  .label { fill: #2563eb } .step { fill: #222 } .number { fill: #999 } .error { fill: #dc2626; font-weight: bold }
  .background { fill: #fff }
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\">
<path d=\"M 0 0 L 8 4 L 0 8 z\" fill=\"#2563eb\"/></marker></defs>
<rect class=\"background\" width=\"100%\" height=\"100%\"/>
";

struct Drawing<'s> {
    story: &'s Story,
    y: usize,
    /// For each actor where it begins.
    since: Vec<Option<usize>>,
    body: String,
}

impl Drawing<'_> {
    fn x(actor: usize) -> usize {
        LEFT + actor * APART
    }

    fn text(&mut self, x: usize, class: &str, text: &str) {
        let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{}\">{}</text>", self.y + 4, escaped(text));
    }

    fn step(&mut self, number: usize, step: &Step) {
        let Some(own) = step.moves.first() else { return };
        let x = Self::x(own.actor);
        self.text(20, "number", &(number + 1).to_string());
        let fill = if step.violation().is_some() { "#dc2626" } else { "#222" };
        let _ = writeln!(self.body, "<circle cx=\"{x}\" cy=\"{}\" r=\"4\" fill=\"{fill}\"/>", self.y);
        let changed = match &step.after {
            Situation::Values(values) => {
                values.iter().map(|(name, value)| format!("; {name} = {}", cut(value))).collect()
            }
            Situation::State(_) => String::new(),
        };
        self.text(x + 10, if step.violation().is_some() { "error" } else { "step" }, &format!("{}{changed}", own.text));
        self.y += DOWN;
        for message in step.messages.iter() {
            self.since[message.to].get_or_insert(self.y);
            if message.from == message.to {
                self.text(Self::x(message.from) + 10, "label", &message.text);
            } else {
                let (from, to) = (Self::x(message.from), Self::x(message.to));
                let _ = writeln!(
                    self.body,
                    "<line class=\"send\" x1=\"{from}\" y1=\"{0}\" x2=\"{to}\" y2=\"{0}\" marker-end=\"url(#tip)\"/>",
                    self.y
                );
                self.y -= 7;
                self.text(from.min(to) + 12, "label", &message.text);
                self.y += 7;
            }
            self.y += DOWN;
        }
        debug_assert!(own.actor < self.story.actors.len(), "a step is one of an actor");
    }
}

/// A text in an XML document, where nothing in it means anything.
fn escaped(text: &str) -> String {
    let visible = visible(text);
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_core::story::Message;

    /// A story in which one machine creates others and sends something to the last.
    fn sample(machines: usize) -> Story {
        let actors = (0..machines).map(|number| format!("Machine#{number}")).collect();
        let own = |text: &str| Move {
            actor: 0,
            text: text.to_owned(),
            procedure: None,
            file: Some("a/b.p".to_owned()),
            line: 7,
            column: None,
        };
        let step = |text: &str, to: usize, sent: &str| Step {
            messages: vec![Message { from: 0, to, text: sent.to_owned() }],
            ..Step::new(vec![own(text)], Situation::Values(vec![("n".to_owned(), "1".to_owned())]))
        };
        let mut steps: Vec<_> = (1..machines).map(|to| step("starts in S", to, "new")).collect();
        steps.push(step("goes on in S", machines - 1, "ePing(3)"));
        Story {
            actors,
            text: "step",
            unit: Unit::Steps,
            steps,
            end: vec!["all is lost".to_owned()],
            ..Story::default()
        }
    }

    fn plain(story: &Story) -> String {
        crate::story::tests::anstream_free(&render(story))
    }

    #[test]
    fn machines_are_columns() {
        let expected = "      Machine#0      Machine#1\n  1   ● starts in S; n = 1  [b.p:7]\n      ├── new ──────>┤\n  \
                        2   ● goes on in S; n = 1  [b.p:7]\n      ├── ePing(3) ─>┤\n    all is lost\n";
        assert_eq!(plain(&sample(2)), expected);
    }

    #[test]
    fn what_is_too_wide_is_told_line_by_line() {
        let text = plain(&sample(20));
        assert!(
            text.starts_with("  1   Machine#0 starts in S; n = 1  [b.p:7]\n        Machine#1 <- new\n  2   "),
            "{text}"
        );
        assert!(
            text.ends_with(
                "20  Machine#0 goes on in S; n = 1  [b.p:7]\n        Machine#19 <- ePing(3)\n    all is lost\n"
            ),
            "{text}"
        );
        assert!(plain(&sample(100)).contains("\n  ... 20 more steps ...\n"));
    }
}
