//! Plots as SVG: three panels side by side, logarithmic upwards, one line for each engine.
//!
//! There is no background, and colours follow the reader's choice of light or dark. Lines differ in marks as well as
//! in colours; the later ones are dashed with larger, hollow marks, so that a line below them can be seen.

use tepui_report::{bytes, grouped, seconds};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 400.0;
const MARGIN: f64 = 20.0;
/// Where the panels begin and end, downwards.
const TOP: f64 = 108.0;
const BOTTOM: f64 = 328.0;
/// What a panel needs at its left, for the labels, and at its right.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
/// Between the frame and the first mark.
const INSET: f64 = 14.0;
const MOST_TICKS: i32 = 7;
/// With more places than this, every second one is labelled.
const MOST_PLACES: usize = 10;
/// About the width of a letter.
const LETTER: f64 = 6.8;

pub(super) const STYLE: &str = "
  text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #6a737d; }
  .title { font-size: 16px; font-weight: 600; }
  .panel { font-size: 13px; font-weight: 600; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #8b949e; stroke-opacity: 0.25; }
  .axis { stroke: #8b949e; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .c0 { color: #0072b2; } .c1 { color: #d55e00; } .c2 { color: #00845f; } .c3 { color: #b0508a; }
  .line, .mark { stroke: currentColor; }
  .mark { fill: currentColor; }
  .line.c2, .line.c3 { stroke-dasharray: 5 4; }
  .mark.c2, .mark.c3 { fill-opacity: 0; stroke-width: 1.6; }
  @media (prefers-color-scheme: dark) {
    text { fill: #b8c0ca; }
    .c0 { color: #56b4e9; } .c1 { color: #f08a3c; } .c2 { color: #2fc79a; } .c3 { color: #e39ac6; }
  }
";

/// A plot.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) note: String,
    /// What stands below the panels, from left to right.
    pub(super) places: Vec<String>,
    pub(super) lines: Vec<Line>,
}

/// A line in every panel.
pub(super) struct Line {
    pub(super) label: String,
    pub(super) points: Vec<Point>,
}

/// States, seconds and bytes at a place.
pub(super) struct Point {
    pub(super) place: usize,
    pub(super) values: [f64; 3],
}

/// A panel: its title, how a power of ten is written, and how any value is.
struct Panel {
    title: &'static str,
    tick: fn(i32) -> String,
    value: fn(f64) -> String,
}

const PANELS: [Panel; 3] = [
    Panel { title: "states", tick: |power| power_of_ten(power, ["", "k", "M", "G"]), value: |n| grouped(n as u64) },
    Panel { title: "time", tick: time_tick, value: seconds },
    Panel {
        title: "peak memory",
        tick: |power| power_of_ten(power, [" B", " kB", " MB", " GB"]),
        value: |n| bytes(n as u64),
    },
];

/// A power of ten with a prefix for each third power.
fn power_of_ten(power: i32, units: [&str; 4]) -> String {
    let step = (power / 3).clamp(0, 3);
    let number = 10_f64.powi(power - 3 * step);
    format!("{number}{}", units[step as usize])
}

pub(super) fn time_tick(power: i32) -> String {
    if power >= 0 { format!("{} s", 10_f64.powi(power)) } else { format!("{} ms", 10_f64.powi(power + 3)) }
}

/// The scale of a panel, in powers of ten.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    /// The whole powers of ten around the values; nothing, where there are none that can be shown.
    fn around(values: impl Iterator<Item = f64>) -> Option<Self> {
        let logs: Vec<f64> = values.filter(|&value| can_be_shown(value)).map(f64::log10).collect();
        let low = logs.iter().copied().min_by(f64::total_cmp)?.floor() as i32;
        let high = logs.iter().copied().max_by(f64::total_cmp)?.ceil() as i32;
        Some(Self { low, high: high.max(low + 1) })
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        BOTTOM - share * (BOTTOM - TOP)
    }

    fn ticks(&self) -> impl Iterator<Item = i32> {
        let step = (self.high - self.low) / MOST_TICKS + 1;
        (self.low..=self.high).step_by(step.unsigned_abs() as usize)
    }
}

fn can_be_shown(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

impl Plot {
    /// The plot as an SVG document.
    pub(super) fn svg(&self) -> String {
        let title = escaped(&self.title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n"
        );
        out += &text(MARGIN, 28.0, "title", &self.title);
        out += &self.legend();
        for (index, panel) in PANELS.iter().enumerate() {
            out += &self.panel(index, panel);
        }
        out += &text(MARGIN, HEIGHT - 14.0, "note", &self.note);
        out + "</svg>\n"
    }

    fn legend(&self) -> String {
        let (mut x, y) = (MARGIN, 54.0);
        let entry = |(index, line): (usize, &Line)| {
            let from = x;
            x += 64.0 + line.label.chars().count() as f64 * LETTER;
            let stroke =
                format!("<path class=\"line {}\" d=\"M{from:.1} {y:.1}H{:.1}\"/>\n", colour(index), from + 28.0);
            stroke + &mark(index, from + 14.0, y, None) + &text(from + 36.0, y + 4.0, "label", &line.label)
        };
        self.lines.iter().enumerate().map(entry).collect()
    }

    fn panel(&self, index: usize, panel: &Panel) -> String {
        let width = (WIDTH - 2.0 * MARGIN) / PANELS.len() as f64;
        let left = MARGIN + index as f64 * width + LEFT;
        let right = MARGIN + (index + 1) as f64 * width - RIGHT;
        let mut out = text(left, TOP - 14.0, "panel", panel.title);
        let values = self.lines.iter().flat_map(|line| &line.points).map(|point| point.values[index]);
        let Some(scale) = Scale::around(values) else {
            return out + &text((left + right) / 2.0, (TOP + BOTTOM) / 2.0, "middle", "no run was finished");
        };
        for power in scale.ticks() {
            let y = scale.y(10_f64.powi(power));
            out += &format!("<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\n");
            out += &text(left - 8.0, y + 4.0, "end", &(panel.tick)(power));
        }
        out += &format!("<path class=\"axis\" d=\"M{left:.1} {BOTTOM:.1}H{right:.1}\"/>\n");
        let gap = (right - left - 2.0 * INSET) / self.places.len().saturating_sub(1).max(1) as f64;
        let x = |place: usize| left + INSET + place as f64 * gap;
        let every = if self.places.len() > MOST_PLACES { 2 } else { 1 };
        for (place, label) in self.places.iter().enumerate().step_by(every) {
            out += &text(x(place), BOTTOM + 18.0, "middle", label);
        }
        out += &text((left + right) / 2.0, BOTTOM + 38.0, "middle", "threads");
        out + &self.curves(index, panel, &scale, x)
    }

    fn curves(&self, index: usize, panel: &Panel, scale: &Scale, x: impl Fn(usize) -> f64) -> String {
        let mut out = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            let shown = || line.points.iter().filter(|point| can_be_shown(point.values[index]));
            let place = |point: &Point| (x(point.place), scale.y(point.values[index]));
            let path: Vec<_> = shown().map(place).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            if path.len() > 1 {
                out += &format!("<path class=\"line {}\" d=\"M{}\"/>\n", colour(number), path.join("L"));
            }
            for point in shown() {
                let (x, y) = place(point);
                let value = (panel.value)(point.values[index]);
                let said = format!("{}, {} threads: {value}", line.label, self.places[point.place]);
                out += &mark(number, x, y, Some(&said));
            }
        }
        out
    }
}

fn colour(line: usize) -> String {
    format!("c{}", line % 4)
}

fn text(x: f64, y: f64, class: &str, text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(text))
}

/// A disc, a square, a triangle or a diamond, which may say what it stands for.
fn mark(line: usize, x: f64, y: f64, said: Option<&str>) -> String {
    let path = match line % 4 {
        0 => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
        1 => "m-3 -3h6v6h-6z",
        2 => "m0 -6l5.4 9.2h-10.8z",
        _ => "m0 -6l6 6l-6 6l-6 -6z",
    };
    let said = said.map(|said| format!("<title>{}</title>", escaped(said))).unwrap_or_default();
    format!("<path class=\"mark {}\" d=\"M{x:.1} {y:.1}{path}\">{said}</path>\n", colour(line))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_units() {
        assert_eq!([-3, 0, 1].map(time_tick), ["1 ms", "1 s", "10 s"]);
        assert_eq!([0, 2, 3, 5, 6].map(PANELS[0].tick), ["1", "100", "1k", "100k", "1M"]);
        assert_eq!([6, 8, 9, 12].map(PANELS[2].tick), ["1 MB", "100 MB", "1 GB", "1000 GB"]);
    }

    #[test]
    fn nothing_to_show_is_shown_as_such() {
        let point = |value| Point { place: 0, values: [value; 3] };
        for points in [vec![], vec![point(0.0)], vec![point(f64::NAN), point(f64::INFINITY)]] {
            let line = Line { label: "a<b".to_owned(), points };
            let plot =
                Plot { title: String::new(), note: String::new(), places: vec!["1".to_owned()], lines: vec![line] };
            let svg = plot.svg();
            assert_eq!(svg.matches("no run was finished").count(), 3, "{svg}");
            assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_scale_has_room_for_its_values() {
        let scale = Scale::around([1.0, 2.0e6].into_iter()).expect("values");
        assert_eq!((scale.low, scale.high, scale.y(1.0)), (0, 7, BOTTOM));
        let alone = Scale::around([1000.0].into_iter()).expect("a value");
        assert_eq!((alone.low, alone.high), (3, 4));
        assert!(Scale::around([1e-300, 1e300].into_iter()).expect("values").ticks().count() <= 8);
    }
}
