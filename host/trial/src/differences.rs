//! Where two JSON values differ, as an author wants to read it.

use serde_json::Value;
use std::fmt;

/// So many are told of one fixture.
const MOST: usize = 20;

/// Characters of a value that are shown.
const SHOWN: usize = 120;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, as `items[0].price`.
    pub at: String,
    /// What is expected there, and what was found.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

/// How objects are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fields {
    /// Both have the same.
    All,
    /// Those that are expected; more may be there.
    Expected,
}

/// Collects differences, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    found: Vec<Difference>,
    more: usize,
}

impl Differences {
    pub(crate) fn add(&mut self, at: &str, what: impl Into<String>) {
        if self.found.len() == MOST {
            self.more += 1;
            return;
        }
        self.found.push(Difference { at: at.to_owned(), what: what.into() });
    }

    pub(crate) fn into_list(mut self) -> Vec<Difference> {
        if self.more > 0 {
            self.found.push(Difference { at: "…".to_owned(), what: format!("and {} more differences", self.more) });
        }
        self.found
    }

    /// Compares two values, and what is in them.
    pub(crate) fn compare(&mut self, at: &str, expected: &Value, found: Option<&Value>, fields: Fields) {
        match (expected, found) {
            (Value::Object(wanted), Some(Value::Object(had))) => {
                for (name, value) in wanted {
                    self.compare(&member(at, name), value, had.get(name), fields);
                }
                if fields == Fields::All {
                    for (name, value) in had.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
                        self.add(&member(at, name), format!("{} is not expected", shown(value)));
                    }
                }
            }
            (Value::Array(wanted), Some(Value::Array(had))) => self.lists(at, wanted, had, fields),
            (wanted, Some(had)) if equal(wanted, had) => {}
            (wanted, Some(had)) => self.add(at, format!("expected {}, found {}", shown(wanted), shown(had))),
            (Value::Null, None) if fields == Fields::Expected => {}
            (wanted, None) => self.add(at, format!("expected {}, found nothing", shown(wanted))),
        }
    }

    /// Compares two lists, in order.
    pub(crate) fn lists(&mut self, at: &str, expected: &[Value], found: &[Value], fields: Fields) {
        if expected.len() != found.len() {
            self.add(at, format!("expected {}, found {}", expected.len(), found.len()));
        }
        let longer = expected.len().max(found.len());
        for index in 0..longer {
            let at = format!("{at}[{index}]");
            match (expected.get(index), found.get(index)) {
                (Some(wanted), Some(had)) => self.compare(&at, wanted, Some(had), fields),
                (Some(wanted), None) => self.add(&at, format!("expected {}, found nothing", shown(wanted))),
                (None, Some(had)) => self.add(&at, format!("{} is not expected", shown(had))),
                (None, None) => {}
            }
        }
    }
}

fn member(at: &str, name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match (is_plain, at.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{at}.{name}"),
        (false, _) => format!("{at}[{name:?}]"),
    }
}

// Languages write 1 and 1.0 for the same number.
fn equal(expected: &Value, found: &Value) -> bool {
    let one_is_a_fraction = expected.is_f64() != found.is_f64();
    expected == found || one_is_a_fraction && expected.is_number() && expected.as_f64() == found.as_f64()
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let begin: String = text.chars().take(SHOWN).collect();
    format!("{begin}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(expected: &Value, found: &Value, fields: Fields) -> Vec<String> {
        let mut differences = Differences::default();
        differences.compare("items", expected, Some(found), fields);
        differences.into_list().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn differences_are_told_where_they_are() {
        let expected = json!([{ "a": 1, "b": { "c": "x" } }, { "a": 2 }]);
        let found = json!([{ "a": 1.0, "b": { "c": "y", "d d": null } }]);
        assert_eq!(
            told(&expected, &found, Fields::All),
            [
                "items: expected 2, found 1",
                "items[0].b.c: expected \"x\", found \"y\"",
                "items[0].b[\"d d\"]: null is not expected",
                "items[1]: expected {\"a\":2}, found nothing",
            ]
        );
        assert_eq!(told(&json!({ "a": 1 }), &json!({ "a": 1, "b": 2 }), Fields::Expected), [""; 0]);
    }

    #[test]
    fn nothing_is_not_null_and_large_numbers_are_exact() {
        assert_eq!(told(&json!({ "a": null }), &json!({}), Fields::All), ["items.a: expected null, found nothing"]);
        assert_eq!(told(&json!({ "a": null }), &json!({}), Fields::Expected), [""; 0]);
        assert_eq!(told(&json!(18_446_744_073_709_551_615_u64), &json!(18_446_744_073_709_551_614_u64), Fields::All).len(), 1);
        assert_eq!(told(&json!(48), &json!(48.0), Fields::All), [""; 0]);
    }

    #[test]
    fn a_flood_of_them_is_counted() {
        let expected: Value = (0..100).collect();
        let found: Value = (100..200).collect();
        let told = told(&expected, &found, Fields::All);
        assert_eq!((told.len(), told.last().map(String::as_str)), (MOST + 1, Some("…: and 80 more differences")));
    }
}
