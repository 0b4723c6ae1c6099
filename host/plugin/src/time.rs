//! Points in time as plugins get them: RFC 3339 in UTC with milliseconds, which JavaScript's `toISOString` writes and every language reads.

use nephila_model::Timestamp;

/// A time as text. One outside of the years that can be written is the epoch.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_with_three_digits() {
        assert_eq!(rfc3339(Timestamp::from_millis(951_827_696_007)), "2000-02-29T12:34:56.007Z");
        assert_eq!(rfc3339(Timestamp::EPOCH), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(Timestamp::from_millis(i64::MAX)), "1970-01-01T00:00:00.000Z");
    }
}
