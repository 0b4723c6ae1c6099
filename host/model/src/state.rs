//! `use_state`: operations on a map of JSON values, and what a call saw of it.

use serde_json::{Number, Value};

/// When a value last changed: a number that grows with every change in the store, 0 for a key that has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateVersion(pub i64);

/// What a call saw. If it has changed by the commit, the call is run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateRead {
    /// A key's value, or its absence.
    Key {
        /// The key.
        key: String,
        /// Its version then.
        version: StateVersion,
    },
    /// Which keys there are.
    Listing {
        /// When a key was last added or removed.
        version: StateVersion,
    },
}

/// A write. None of them depends on what the caller saw.
#[derive(Debug, Clone, PartialEq)]
pub enum StateOp {
    /// Puts a value (JSON, checked).
    Set {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Takes the value away.
    Remove {
        /// The key.
        key: String,
    },
    /// Adds to a whole number; nothing there counts as 0.
    Increment {
        /// The key.
        key: String,
        /// What is added.
        by: i64,
    },
    /// Appends to a list; nothing there counts as an empty one.
    Append {
        /// The key.
        key: String,
        /// The element (JSON, checked).
        value: String,
    },
    /// Keeps the greater number.
    Max {
        /// The key.
        key: String,
        /// The number to compare with.
        value: f64,
    },
}

impl StateOp {
    /// The key that it writes.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Set { key, .. }
            | Self::Remove { key }
            | Self::Increment { key, .. }
            | Self::Append { key, .. }
            | Self::Max { key, .. } => key,
        }
    }
}

/// Why an operation cannot be applied to what is there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The value is of another type.
    #[error(
        "state key `{key}` holds {found}, so that {operation} cannot be applied; set it to {wanted} first, or use another key"
    )]
    Type {
        /// The key.
        key: String,
        /// What is there.
        found: &'static str,
        /// What was tried.
        operation: &'static str,
        /// What would do.
        wanted: &'static str,
    },
    /// The sum does not fit.
    #[error("state key `{key}` would leave the range of 64-bit whole numbers")]
    Overflow {
        /// The key.
        key: String,
    },
    /// The value is too large.
    #[error("state key `{key}` would have {bytes} bytes, and {limit} are allowed; keep lists in a dataset instead")]
    TooLarge {
        /// The key.
        key: String,
        /// How large it would be.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// What is stored is not JSON.
    #[error("state key `{key}` holds what is not JSON")]
    Corrupt {
        /// The key.
        key: String,
    },
}

/// Applies an operation to what is there, and gives what is there afterwards (`None`: nothing). `limit` bounds a value in bytes.
///
/// # Errors
/// [`StateError`], and then nothing has changed.
pub fn apply(current: Option<&str>, op: &StateOp, limit: usize) -> Result<Option<String>, StateError> {
    let key = op.key();
    let parsed = || -> Result<Option<Value>, StateError> {
        current.map(|text| serde_json::from_str(text).map_err(|_| StateError::Corrupt { key: key.to_owned() })).transpose()
    };
    let mismatch =
        |found: &Value, operation, wanted| StateError::Type { key: key.to_owned(), found: kind(found), operation, wanted };
    let next = match op {
        StateOp::Remove { .. } => return Ok(None),
        StateOp::Set { value, .. } => value.clone(),
        StateOp::Increment { by, .. } => {
            let before = match parsed()? {
                None => 0,
                Some(value) => value.as_i64().ok_or_else(|| mismatch(&value, "increment", "a whole number"))?,
            };
            before.checked_add(*by).ok_or_else(|| StateError::Overflow { key: key.to_owned() })?.to_string()
        }
        StateOp::Append { value, .. } => append(current, value, parsed, mismatch)?,
        StateOp::Max { value, .. } => {
            let before = match parsed()? {
                None => f64::NEG_INFINITY,
                Some(found) => found.as_f64().ok_or_else(|| mismatch(&found, "max", "a number"))?,
            };
            match current {
                Some(text) if before >= *value => text.to_owned(),
                _ => number(*value).to_string(),
            }
        }
    };
    if next.len() > limit {
        return Err(StateError::TooLarge { key: key.to_owned(), bytes: next.len(), limit });
    }
    Ok(Some(next))
}

// The list's text is extended, not parsed into values and written again: a long list is appended to again and again.
fn append(
    current: Option<&str>,
    value: &str,
    parsed: impl Fn() -> Result<Option<Value>, StateError>,
    mismatch: impl Fn(&Value, &'static str, &'static str) -> StateError,
) -> Result<String, StateError> {
    let Some(text) = current.map(str::trim) else {
        return Ok(format!("[{value}]"));
    };
    if !(text.starts_with('[') && text.ends_with(']')) {
        let found = parsed()?.unwrap_or(Value::Null);
        return Err(mismatch(&found, "append", "a list"));
    }
    let inside = text[1..text.len() - 1].trim_end();
    let comma = if inside.trim_start().is_empty() { "" } else { "," };
    Ok(format!("[{inside}{comma}{value}]"))
}

fn number(value: f64) -> Number {
    // A whole number is kept as one, so that it can be incremented later.
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Number::from(value as i64);
    }
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(current: Option<&str>, op: StateOp) -> Result<Option<String>, StateError> {
        apply(current, &op, 64)
    }

    #[test]
    fn operations_do_what_they_say() {
        let key = || "k".to_owned();
        let increment = |by| StateOp::Increment { key: key(), by };
        assert_eq!(run(None, increment(2)), Ok(Some("2".into())));
        assert_eq!(run(Some("40"), increment(2)), Ok(Some("42".into())));
        assert_eq!(run(Some("40"), StateOp::Remove { key: key() }), Ok(None));
        let append = |value: &str| StateOp::Append { key: key(), value: value.into() };
        assert_eq!(run(None, append("1")), Ok(Some("[1]".into())));
        assert_eq!(run(Some("[]"), append("1")), Ok(Some("[1]".into())));
        assert_eq!(run(Some("[ 1 ]"), append("{}")), Ok(Some("[ 1,{}]".into())));
        let max = |value| StateOp::Max { key: key(), value };
        assert_eq!(run(None, max(1.5)), Ok(Some("1.5".into())));
        assert_eq!(run(Some("7"), max(1.5)), Ok(Some("7".into())));
        assert_eq!(run(Some("7"), max(8.0)), Ok(Some("8".into())));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let key = || "k".to_owned();
        for (current, op) in [
            ("\"x\"", StateOp::Increment { key: key(), by: 1 }),
            ("1.5", StateOp::Increment { key: key(), by: 1 }),
            ("{}", StateOp::Append { key: key(), value: "1".into() }),
            ("[1]", StateOp::Max { key: key(), value: 1.0 }),
        ] {
            assert!(matches!(run(Some(current), op), Err(StateError::Type { .. })), "{current}");
        }
        let overflow = run(Some(&i64::MAX.to_string()), StateOp::Increment { key: key(), by: 1 });
        assert!(matches!(overflow, Err(StateError::Overflow { .. })));
        let large = run(None, StateOp::Set { key: key(), value: format!("\"{}\"", "x".repeat(64)) });
        assert!(matches!(large, Err(StateError::TooLarge { bytes: 66, limit: 64, .. })));
    }
}
