//! Amounts for people.

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
    fn amounts_read_well() {
        assert_eq!([12, 2048, 3 << 20, 200 << 20].map(bytes), ["12 B", "2.0 KiB", "3.0 MiB", "200 MiB"]);
        assert_eq!([0.00012, 0.25, 12.0, 1234.0].map(seconds), ["0.1 ms", "0.25 s", "12.00 s", "1234 s"]);
    }
}
