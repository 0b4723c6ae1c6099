//! Which fields an item must have, and which it keeps.

use nephila_sdk::prelude::Deserialize;
use nephila_sdk::serde_json::{Map, Value};

/// Which fields are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Fields {
    /// An item without one of these is left out.
    require: Vec<String>,
    /// An item keeps these; without any, all.
    keep: Vec<String>,
}

impl Fields {
    /// The first required field that an item does not have: it is not there, is null, or is a text without a letter.
    pub(crate) fn missing(&self, item: &Map<String, Value>) -> Option<&str> {
        let is_there = |name: &str| match item.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        };
        self.require.iter().map(String::as_str).find(|name| !is_there(name))
    }

    /// Takes out what is not kept; whether anything was.
    pub(crate) fn take_out(&self, item: &mut Map<String, Value>) -> bool {
        let before = item.len();
        if !self.keep.is_empty() {
            item.retain(|name, _| self.keep.contains(name));
        }
        item.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_sdk::serde_json::json;

    fn fields(value: Value) -> Fields {
        nephila_sdk::serde_json::from_value(value).unwrap_or_default()
    }

    fn item(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_field_is_missing_that_is_not_there_or_says_nothing() {
        let fields = fields(json!({ "require": ["title", "price"] }));
        assert_eq!(fields.missing(&item(json!({ "title": "A", "price": 0 }))), None);
        assert_eq!(fields.missing(&item(json!({ "title": " ", "price": 0 }))), Some("title"));
        assert_eq!(fields.missing(&item(json!({ "title": "A", "price": null }))), Some("price"));
        assert_eq!(fields.missing(&item(json!({ "title": "A" }))), Some("price"));
    }

    #[test]
    fn what_is_not_kept_is_taken_out() {
        let mut values = item(json!({ "title": "A", "price": 1 }));
        assert!(!Fields::default().take_out(&mut values));
        assert!(fields(json!({ "keep": ["title"] })).take_out(&mut values));
        assert_eq!(values, item(json!({ "title": "A" })));
    }
}
