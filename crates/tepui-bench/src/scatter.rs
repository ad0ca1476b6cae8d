//! Scatter plots as SVG: one panel for each comparison, times on both axes, logarithmic.

use std::fmt::Write as _;

use crate::plot::{STYLE, time_tick};

const SIDE: f64 = 200.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 96.0;
const GAP: f64 = 46.0;
const BELOW: f64 = 44.0;

/// A row of panels.
pub(super) struct Scatter {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) panels: Vec<Panel>,
}

/// Pairs of times in seconds: to the right, and upwards.
pub(super) struct Panel {
    pub(super) title: String,
    /// How many times as long what is upwards takes, in the middle.
    pub(super) median: Option<f64>,
    pub(super) points: Vec<(f64, f64)>,
}

impl Scatter {
    /// The drawing.
    pub(super) fn draw(&self) -> String {
        let times = || self.panels.iter().flat_map(|panel| &panel.points).flat_map(|point| [point.0, point.1]);
        let shown = || times().filter(|time| *time > 0.0).map(f64::log10);
        let low = shown().min_by(f64::total_cmp).unwrap_or(0.0).floor() as i32;
        let high = shown().max_by(f64::total_cmp).unwrap_or(0.0).ceil().max(f64::from(low + 1)) as i32;
        let width = LEFT + self.panels.len() as f64 * (SIDE + GAP);
        let height = TOP + SIDE + BELOW;
        let mut out =
            format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n");
        let _ = writeln!(
            out,
            "<title>{}</title>\n<style>{STYLE}  .dot {{ fill: currentColor; fill-opacity: 0.45; }}\n</style>",
            escaped(&self.title)
        );
        let _ = writeln!(out, "<text class=\"title\" x=\"20\" y=\"30\">{}</text>", escaped(&self.title));
        let _ = writeln!(out, "<text x=\"20\" y=\"52\">{}</text>", escaped(&self.note));
        for (index, panel) in self.panels.iter().enumerate() {
            let x = LEFT + index as f64 * (SIDE + GAP);
            panel.draw(&mut out, x, (low, high));
        }
        out + "</svg>\n"
    }
}

impl Panel {
    fn draw(&self, out: &mut String, left: f64, (low, high): (i32, i32)) {
        let place = |time: f64| SIDE * (time.log10() - f64::from(low)) / f64::from(high - low);
        let (right, bottom) = (left + SIDE, TOP + SIDE);
        let _ =
            writeln!(out, "<text class=\"panel\" x=\"{left}\" y=\"{}\">{}</text>", TOP - 12.0, escaped(&self.title));
        for power in low..=high {
            let at = place(10_f64.powi(power));
            let (x, y) = (left + at, bottom - at);
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>");
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>");
            let tick = time_tick(power);
            let _ = writeln!(out, "<text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{tick}</text>", bottom + 18.0);
            if left < LEFT + 1.0 {
                let _ = writeln!(out, "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{tick}</text>", left - 6.0, y + 4.0);
            }
        }
        let _ = writeln!(out, "<line class=\"axis\" x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{TOP}\"/>");
        if let Some(median) = self.median.filter(|median| *median > 0.0) {
            let shift = SIDE * median.log10() / f64::from(high - low);
            let (x1, y1) = (left + (-shift).max(0.0), bottom - shift.max(0.0));
            let (x2, y2) = (right - shift.max(0.0), TOP + (-shift).max(0.0));
            let _ = writeln!(
                out,
                "<line class=\"line c1\" stroke-dasharray=\"5 4\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"><title>median {median:.2}</title></line>"
            );
            let (x, y) = (right - 6.0, bottom - 8.0);
            let _ = writeln!(out, "<text class=\"end\" x=\"{x}\" y=\"{y}\">median {median:.2}</text>");
        }
        for &(x, y) in self.points.iter().filter(|point| point.0 > 0.0 && point.1 > 0.0) {
            let _ = writeln!(
                out,
                "<circle class=\"dot c0\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\"/>",
                left + place(x),
                bottom - place(y)
            );
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_median_and_labels_are_drawn() {
        let panel =
            |points: &[(f64, f64)], median| Panel { title: "a & b".to_owned(), median, points: points.to_vec() };
        let panels =
            vec![panel(&[(0.01, 0.1), (2.0, 1.0)], Some(2.0)), panel(&[], None), panel(&[(0.0, 1.0)], Some(0.5))];
        let drawn = Scatter { title: "times <s>".to_owned(), note: String::new(), panels }.draw();
        assert_eq!(drawn.matches("<circle").count(), 2, "{drawn}");
        assert_eq!(drawn.matches("a &amp; b").count(), 3);
        assert!(
            drawn.contains("<title>times &lt;s&gt;</title>")
                && drawn.contains("median 2.00")
                && drawn.contains("10 ms")
        );
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
