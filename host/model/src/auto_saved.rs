//! Auto-saved values: values of key-value stores that handlers share (Crawlee: `KeyValueStore.get_auto_saved_value`).
//!
//! Decision: such a value is state of the crawler id, under a key that no plugin can name, so that it is read, checked and committed as
//! `use_state` is. The record of its store only shows it. What it costs: crawls of other ids that share a named store
//! have each a value of their own, and the last one to show it wins, as with several processes of Crawlee's.

use crate::KvStoreName;
use std::ops::Range;

/// What begins the keys, and stands between their parts: keys and names of plugins have no control characters.
const MARK: char = '\u{1}';

/// Which value: a key of a key-value store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AutoSaved {
    /// The store.
    pub store: KvStoreName,
    /// The key of its record.
    pub key: String,
}

impl AutoSaved {
    /// Where the keys of auto-saved values are among those of the state, in the order of their bytes. All others come after them.
    pub const STATE_KEYS: Range<&'static str> = "\u{1}".."\u{2}";

    /// The key of the state that it is kept under.
    #[must_use]
    pub fn state_key(&self) -> String {
        let store = match &self.store {
            KvStoreName::Default => "",
            KvStoreName::Named(name) => name,
        };
        format!("{MARK}{store}{MARK}{}", self.key)
    }

    /// Which value a key of the state is for; `None` for a plugin's own key.
    #[must_use]
    pub fn of_state_key(key: &str) -> Option<Self> {
        let (store, key) = key.strip_prefix(MARK)?.split_once(MARK)?;
        let store = if store.is_empty() { KvStoreName::Default } else { KvStoreName::Named(store.to_owned()) };
        Some(Self { store, key: key.to_owned() })
    }

    /// What the author of a plugin calls a key of the state: its own key as it is, and of an auto-saved value the record's.
    #[must_use]
    pub fn authors_key(key: &str) -> &str {
        key.strip_prefix(MARK).and_then(|rest| rest.split_once(MARK)).map_or(key, |(_, key)| key)
    }

    /// Whether a key of the state is that of an auto-saved value.
    #[must_use]
    pub fn is_state_key(key: &str) -> bool {
        key.starts_with(MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_key_and_a_plugins_own_key_is_none() {
        for store in [KvStoreName::Default, KvStoreName::Named("prices".to_owned())] {
            for key in ["a", "ü/ b", "prices"] {
                let value = AutoSaved { store: store.clone(), key: key.to_owned() };
                let state_key = value.state_key();
                assert!(AutoSaved::STATE_KEYS.contains(&state_key.as_str()) && AutoSaved::is_state_key(&state_key));
                assert_eq!(AutoSaved::of_state_key(&state_key), Some(value));
                assert_eq!(AutoSaved::authors_key(&state_key), key);
            }
        }
        for own in [" ", "a", "prices"] {
            assert_eq!(AutoSaved::of_state_key(own), None);
            assert_eq!(AutoSaved::authors_key(own), own);
            assert!(own >= AutoSaved::STATE_KEYS.end);
        }
    }
}
