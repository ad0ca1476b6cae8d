//! Numbers for people.

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    if number == u64::MAX {
        return "2^64 or more".to_owned(); // Counts stop there.
    }
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things, the thing's name being given for one of them.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", grouped(number)) }
}

/// An amount of memory.
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// A duration.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.0995 => format!("{:.1} ms", s * 1000.0),
        s if s < 100.0 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2000].map(|number| count(number, "view")), ["0 views", "1 view", "2,000 views"]);
        assert_eq!([12, 2048, 3 << 20, 200 << 20].map(bytes), ["12 B", "2.0 KiB", "3.0 MiB", "200 MiB"]);
        assert_eq!([0.00012, 0.25, 12.0, 1234.0].map(seconds), ["0.1 ms", "0.25 s", "12.00 s", "1234 s"]);
    }
}
