//! What becomes of named datasets and key-value stores, and that it is said where they go away.
//!
//! Decision: a crawl without a place of its own keeps everything in its run's folder, named storages too, and that folder goes
//! after a few more runs. Crawlee keeps them for ever, so that whoever relies on it is told, once, with the first thing that is
//! written under a name.

use nephila_model::{DatasetName, Effects, KvStoreName};
use std::sync::atomic::{AtomicBool, Ordering};

/// What becomes of what a crawl writes under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamedStorages {
    /// It is kept for as long as its store is. The default.
    #[default]
    Kept,
    /// It goes with the run's folder.
    GoWithTheRun,
}

/// Says it, once.
#[derive(Debug)]
pub struct Notice {
    said: AtomicBool,
}

impl Notice {
    /// Where they are kept, there is nothing to say.
    pub fn new(named: NamedStorages) -> Self {
        Self { said: AtomicBool::new(named == NamedStorages::Kept) }
    }

    /// What these effects write under a name, if that is still to be said.
    pub fn due(&self, effects: &Effects) -> Option<String> {
        if self.said.load(Ordering::Relaxed) {
            return None;
        }
        let datasets = effects.items.iter().filter_map(|item| match &item.dataset {
            DatasetName::Named(name) => Some(format!("dataset `{name}`")),
            DatasetName::Default => None,
        });
        let stores = effects.key_values.iter().filter_map(|write| match &write.store {
            KvStoreName::Named(name) => Some(format!("key-value store `{name}`")),
            KvStoreName::Default => None,
        });
        datasets.chain(stores).next()
    }

    /// It was written.
    pub fn say(&self, what: &str) {
        if !self.said.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the {what} is kept in this run's folder and goes with it, when five newer runs are done; to keep what has a \
                 name, and to share it between crawls, use --store sqlite:DIR (or --job DIR for this crawl alone)"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::{ItemPush, KeyValueWrite};

    fn item(dataset: DatasetName) -> Effects {
        Effects { items: vec![ItemPush { dataset, json: "{}".to_owned() }], ..Effects::default() }
    }

    #[test]
    fn only_what_has_a_name_is_told_of_and_only_where_it_goes_away() {
        let prices = item(DatasetName::Named("prices".to_owned()));
        let record = KeyValueWrite { store: KvStoreName::Named("covers".to_owned()), key: "a".to_owned(), value: None };
        let covers = Effects { key_values: vec![record], ..item(DatasetName::Default) };
        assert_eq!(Notice::new(NamedStorages::Kept).due(&prices), None);
        let notice = Notice::new(NamedStorages::GoWithTheRun);
        assert_eq!(notice.due(&item(DatasetName::Default)), None);
        assert_eq!(notice.due(&prices).as_deref(), Some("dataset `prices`"));
        assert_eq!(notice.due(&covers).as_deref(), Some("key-value store `covers`"));
        notice.say("dataset `prices`");
        assert_eq!(notice.due(&covers), None);
    }
}
