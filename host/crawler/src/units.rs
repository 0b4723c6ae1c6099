//! Lengths of time and sizes as people write them.

use std::time::Duration;

/// Longer than anybody waits, and short enough to be added to any clock.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Reads a length of time: a number of seconds, or one with the unit ms, s, m, h or d. At most a hundred years.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn duration(value: &str) -> Result<Duration, String> {
    let (amount, unit) = split(value);
    let seconds_each = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(format!("has an unknown unit `{unit}`")),
    };
    let amount: f64 = amount.parse().map_err(|_| "is not a length of time".to_owned())?;
    let length = Duration::try_from_secs_f64(amount * seconds_each).map_err(|_| "is not a length of time".to_owned())?;
    if length > LONGEST { Err("is longer than a hundred years".to_owned()) } else { Ok(length) }
}

/// Reads a size: a number of bytes, or one with the unit KB, MB or GB (powers of 1,024).
///
/// # Errors
/// A sentence that says what is wrong.
pub fn size(value: &str) -> Result<u64, String> {
    let (amount, unit) = split(value);
    let each = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(format!("has an unknown unit `{unit}`")),
    };
    let amount: u64 = amount.parse().map_err(|_| "is not a size".to_owned())?;
    amount.checked_mul(each).ok_or_else(|| "is too large".to_owned())
}

fn split(value: &str) -> (&str, &str) {
    let at = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let (amount, unit) = value.split_at(at);
    (amount.trim(), unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("2 h"), Ok(Duration::from_secs(7_200)));
        assert_eq!(size("32MB"), Ok(32 << 20));
        assert_eq!(size("7"), Ok(7));
    }

    #[test]
    fn what_no_clock_can_wait_is_refused() {
        for bad in ["-1", "NaN", "inf", "1e19", "3000000000000", "", "soon", "1 parsec"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        for bad in ["-1", "1.5", "99999999999 GB", "", "KB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
