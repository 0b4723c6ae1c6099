//! `use_state`: operations on a map of JSON values, and what a call saw of it.

use crate::{AutoSaved, KvStoreName, KvValue};
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
    /// A record that stood for the value of a key which has none yet.
    Record {
        /// Its store.
        store: KvStoreName,
        /// Its key there.
        key: String,
        /// What it was, if it was there.
        value: Option<KvValue>,
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
        "state key `{}` holds {found}, so that {operation} cannot be applied; set it to {wanted} first, or use another key",
        AutoSaved::authors_key(.key)
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
    #[error("state key `{}` would leave the range of 64-bit whole numbers", AutoSaved::authors_key(.key))]
    Overflow {
        /// The key.
        key: String,
    },
    /// The value is too large.
    #[error(
        "state key `{}` would have {bytes} bytes, and {limit} are allowed; keep lists in a dataset instead",
        AutoSaved::authors_key(.key)
    )]
    TooLarge {
        /// The key.
        key: String,
        /// How large it would be.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// What is stored is not JSON.
    #[error("state key `{}` holds what is not JSON", AutoSaved::authors_key(.key))]
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
    let mut value = StateValue::new(current.map(str::to_owned));
    value.apply(op, limit)?;
    Ok(value.into_text())
}

/// A value to which operations are applied, one after another. Each costs what it brings, not what is there already: a plugin may append
/// thousands of times to one long list.
#[derive(Debug, Clone, PartialEq)]
pub struct StateValue(Form);

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Nothing,
    /// JSON that nobody has looked at.
    Text(String),
    /// JSON, and the number that it is.
    Number(String, Number),
    /// A list without its last bracket.
    OpenList(String),
}

impl StateValue {
    /// What is there; `None`: nothing.
    #[must_use]
    pub fn new(text: Option<String>) -> Self {
        Self(text.map_or(Form::Nothing, Form::Text))
    }

    /// What is there now.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        match self.0 {
            Form::Nothing => None,
            Form::Text(text) | Form::Number(text, _) => Some(text),
            Form::OpenList(mut text) => {
                text.push(']');
                Some(text)
            }
        }
    }

    /// Applies an operation. `limit` bounds the value in bytes.
    ///
    /// # Errors
    /// [`StateError`]; then the value is of no more use.
    pub fn apply(&mut self, op: &StateOp, limit: usize) -> Result<(), StateError> {
        let key = op.key();
        match op {
            StateOp::Remove { .. } => self.0 = Form::Nothing,
            StateOp::Set { value, .. } => self.0 = Form::Text(value.clone()),
            StateOp::Append { value, .. } => self.append(key, value)?,
            StateOp::Increment { by, .. } => {
                let before = match self.number(key, "increment", "a whole number")? {
                    None => 0,
                    Some(found) => found.as_i64().ok_or_else(|| mismatch(key, "a number", "increment", "a whole number"))?,
                };
                let sum = before.checked_add(*by).ok_or_else(|| StateError::Overflow { key: key.to_owned() })?;
                self.0 = Form::Number(sum.to_string(), sum.into());
            }
            StateOp::Max { value, .. } => {
                let before = self.number(key, "max", "a number")?.and_then(Number::as_f64);
                if !before.is_some_and(|before| before >= *value) {
                    let number = number(*value);
                    self.0 = Form::Number(number.to_string(), number);
                }
            }
        }
        let bytes = self.len();
        if bytes > limit { Err(StateError::TooLarge { key: key.to_owned(), bytes, limit }) } else { Ok(()) }
    }

    fn len(&self) -> usize {
        match &self.0 {
            Form::Nothing => 0,
            Form::Text(text) | Form::Number(text, _) => text.len(),
            Form::OpenList(text) => text.len() + 1,
        }
    }

    // The number that is there, read once.
    fn number(&mut self, key: &str, operation: &'static str, wanted: &'static str) -> Result<Option<&Number>, StateError> {
        if let Form::Text(text) = &mut self.0 {
            match parse(key, text)? {
                Value::Number(number) => self.0 = Form::Number(std::mem::take(text), number),
                other => return Err(mismatch(key, kind(&other), operation, wanted)),
            }
        }
        match &self.0 {
            Form::Nothing => Ok(None),
            Form::Number(_, number) => Ok(Some(number)),
            Form::Text(_) | Form::OpenList(_) => Err(mismatch(key, "a list", operation, wanted)),
        }
    }

    // The list's text is extended, not parsed into values and written again.
    fn append(&mut self, key: &str, value: &str) -> Result<(), StateError> {
        let mut open = match std::mem::replace(&mut self.0, Form::Nothing) {
            Form::OpenList(open) => open,
            Form::Nothing => "[".to_owned(),
            Form::Text(text) => match text.trim().strip_suffix(']').filter(|open| open.starts_with('[')) {
                Some(open) => open.to_owned(),
                None => return Err(mismatch(key, kind(&parse(key, &text)?), "append", "a list")),
            },
            Form::Number(..) => return Err(mismatch(key, "a number", "append", "a list")),
        };
        open.truncate(open.trim_end().len());
        if open.len() > 1 {
            open.push(',');
        }
        open.push_str(value);
        self.0 = Form::OpenList(open);
        Ok(())
    }
}

fn parse(key: &str, text: &str) -> Result<Value, StateError> {
    serde_json::from_str(text).map_err(|_| StateError::Corrupt { key: key.to_owned() })
}

fn mismatch(key: &str, found: &'static str, operation: &'static str, wanted: &'static str) -> StateError {
    StateError::Type { key: key.to_owned(), found, operation, wanted }
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
    fn operations_in_a_row_come_to_what_they_come_to_one_by_one() {
        let key = || "k".to_owned();
        let append = |value: &str| StateOp::Append { key: key(), value: value.into() };
        let set = |value: &str| StateOp::Set { key: key(), value: value.into() };
        let all = [
            set(" [ 1 , 2 ] "),
            append(" 3\n"),
            append("[]"),
            StateOp::Remove { key: key() },
            append("{}"),
            append("4"),
            set("5"),
            StateOp::Increment { key: key(), by: 2 },
            StateOp::Increment { key: key(), by: -9 },
            StateOp::Max { key: key(), value: -3.5 },
            StateOp::Max { key: key(), value: 2.5 },
            append("1"),
        ];
        let (mut together, mut alone) = (StateValue::new(None), None);
        for (at, op) in all.iter().enumerate() {
            let next = apply(alone.as_deref(), op, 64);
            assert_eq!(together.apply(op, 64), next.clone().map(drop), "{op:?}");
            assert_eq!(next.is_err(), at == all.len() - 1, "{op:?}");
            alone = next.unwrap_or_default();
            assert!(at == all.len() - 1 || together.clone().into_text() == alone, "{op:?}");
        }
    }

    #[test]
    fn a_list_is_refused_at_the_append_that_makes_it_too_large() {
        let append = StateOp::Append { key: "k".into(), value: "\"123456\"".into() };
        let mut list = StateValue::new(None);
        let result = (0..).find_map(|at| list.apply(&append, 64).err().map(|error| (at, error)));
        assert!(matches!(result, Some((7, StateError::TooLarge { bytes: 73, limit: 64, .. }))), "{result:?}");
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

    #[test]
    fn of_an_auto_saved_value_the_authors_key_is_said() {
        let key = AutoSaved { store: crate::KvStoreName::Named("shop".into()), key: "prices".into() }.state_key();
        let conflict = crate::Rejection::StateConflict { what: key.clone() }.to_string();
        let large = StateError::TooLarge { key: key.clone(), bytes: 66, limit: 64 }.to_string();
        let refused = run(Some("[]"), StateOp::Increment { key, by: 1 }).unwrap_err().to_string();
        for said in [conflict, large, refused] {
            assert!(said.contains("prices") && !said.contains(char::is_control), "{said:?}");
        }
    }
}
