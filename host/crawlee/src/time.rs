//! Times and durations as Crawlee writes them.
//!
//! Decision: two forms are written, since Crawlee for Python has two (`str(datetime)` in metadata files, ISO 8601 in states), and
//! everything is read that either implementation writes: ISO 8601 with any offset, a space for the `T`, and milliseconds since 1970.

use jiff::{SpanRelativeTo, Timestamp as Instant};
use nephila_model::Timestamp;
use serde::{Deserialize, Deserializer, Serializer};
use std::time::Duration;

/// As in `__metadata__.json`.
pub(crate) fn in_metadata(time: Timestamp) -> String {
    instant(time).strftime("%Y-%m-%d %H:%M:%S.%6f+00:00").to_string()
}

/// As in a state: `2026-08-01T12:00:00.5Z`.
pub(crate) fn in_state(time: Timestamp) -> String {
    instant(time).to_string()
}

// What is out of range is the end of time.
fn instant(time: Timestamp) -> Instant {
    let end = if time < Timestamp::EPOCH { Instant::MIN } else { Instant::MAX };
    Instant::from_millisecond(time.as_millis()).unwrap_or(end)
}

/// A time as it may stand in a state.
#[derive(Deserialize)]
#[serde(untagged)]
enum Time {
    Millis(f64),
    Text(String),
}

/// A duration as it may stand in a state.
#[derive(Deserialize)]
#[serde(untagged)]
enum Span {
    Millis(f64),
    Text(String),
}

/// For serde: a time or `null`.
pub(crate) mod time_or_null {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_str(&in_state(*time)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(match Option::<Time>::deserialize(from)? {
            None => None,
            Some(Time::Millis(millis)) => Some(Timestamp::from_millis(millis.round() as i64)),
            Some(Time::Text(text)) => {
                let time: Instant = text.parse().map_err(serde::de::Error::custom)?;
                Some(Timestamp::from_millis(time.as_millisecond()))
            }
        })
    }
}

/// For serde: whole milliseconds.
pub(crate) mod millis {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(rounded(*duration))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Ok(millis_or_null::deserialize(from)?.unwrap_or_default())
    }
}

/// For serde: whole milliseconds or `null`.
pub(crate) mod millis_or_null {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => to.serialize_u64(rounded(*duration)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(match Option::<Span>::deserialize(from)? {
            None => None,
            // Not a number, infinite, or negative: as if there were none.
            Some(Span::Millis(millis)) => Duration::try_from_secs_f64(millis / 1_000.0).ok(),
            Some(Span::Text(text)) => {
                let span: jiff::Span = text.parse().map_err(serde::de::Error::custom)?;
                let days_are_days = SpanRelativeTo::days_are_24_hours();
                let duration = span.to_duration(days_are_days).map_err(serde::de::Error::custom)?;
                Duration::try_from(duration).ok()
            }
        })
    }
}

/// Whole milliseconds, the nearest ones, as Crawlee rounds them.
pub(crate) fn rounded(duration: Duration) -> u64 {
    u64::try_from(duration.saturating_add(Duration::from_micros(500)).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Both {
        #[serde(with = "time_or_null")]
        at: Option<Timestamp>,
        #[serde(with = "millis_or_null")]
        took: Option<Duration>,
    }

    fn read(at: serde_json::Value, took: serde_json::Value) -> serde_json::Result<(Option<i64>, Option<Duration>)> {
        serde_json::from_value(json!({ "at": at, "took": took })).map(|Both { at, took }| (at.map(Timestamp::as_millis), took))
    }

    #[test]
    fn times_are_written_in_crawlees_two_forms() {
        let time = Timestamp::from_millis(1_785_585_600_120);
        assert_eq!(in_metadata(time), "2026-08-01 12:00:00.120000+00:00");
        assert_eq!(in_state(time), "2026-08-01T12:00:00.12Z");
        assert_eq!(in_state(Timestamp::EPOCH), "1970-01-01T00:00:00Z");
        assert!(in_state(Timestamp::from_millis(i64::MAX)).starts_with("9999-12-3"));
        assert!(in_state(Timestamp::from_millis(i64::MIN)).starts_with("-"));
    }

    #[test]
    fn times_of_both_implementations_are_read() {
        let at = Some(1_785_585_600_120);
        for text in [
            "2026-08-01T12:00:00.120Z",
            "2026-08-01T12:00:00.120000Z",
            "2026-08-01 12:00:00.120000+00:00",
            "2026-08-01T14:00:00.12+02:00",
        ] {
            assert_eq!(read(json!(text), json!(null)).unwrap().0, at, "{text}");
        }
        assert_eq!(read(json!(1_785_585_600_120_u64), json!(null)).unwrap().0, at);
        assert_eq!(read(json!(null), json!(null)).unwrap(), (None, None));
        assert!(read(json!("yesterday"), json!(null)).is_err());
    }

    #[test]
    fn durations_of_both_implementations_are_read() {
        for (took, expected) in [
            (json!(1_500), Some(1_500)),
            (json!(1_500.4), Some(1_500)),
            (json!("PT1.5S"), Some(1_500)),
            (json!("P1DT1H0.25S"), Some(90_000_250)),
            (json!("-PT1S"), None),
            (json!(-1), None),
            (json!(null), None),
        ] {
            let found = read(json!(null), took.clone()).unwrap().1.map(rounded);
            assert_eq!(found, expected, "{took}");
        }
    }

    #[test]
    fn milliseconds_are_rounded() {
        let both = Both { at: None, took: Some(Duration::from_micros(1_500)) };
        assert_eq!(serde_json::to_value(both).unwrap(), json!({ "at": null, "took": 2 }));
        assert_eq!(rounded(Duration::MAX), u64::MAX);
    }
}
