//! What a release promises: a plugin that was built for it loads and means the same for ever.
//!
//! Decision: what may be added is a function that plugins call, an interface, a type. Everything else breaks somebody: a record that grows,
//! a variant with one case more, and a function more in an entry point, which no plugin of old has.

use crate::Contract;
use crate::items::{Item, Place, items};

/// Something that a release does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is gone.
    Gone {
        /// What.
        what: String,
    },
    /// It is not what it was.
    Changed {
        /// What.
        what: String,
        /// What it was.
        was: String,
        /// What it is.
        is: String,
    },
    /// An entry point asks for more than it did.
    Demanded {
        /// What.
        what: String,
    },
}

/// What has changed since a release that must not.
#[must_use]
pub fn changes(released: &Contract, now: &Contract) -> Vec<Change> {
    let (before, after) = (items(released), items(now));
    let same = |one: &Item, other: &Item| one.interface == other.interface && one.name == other.name;
    let named = |item: &Item| format!("{}.{}", item.interface, item.name);
    let mut found = Vec::new();
    for old in &before {
        match after.iter().find(|new| same(old, new)) {
            None => found.push(Change::Gone { what: named(old) }),
            Some(new) if new.wit != old.wit => {
                found.push(Change::Changed { what: named(old), was: old.wit.clone(), is: new.wit.clone() });
            }
            Some(_) => {}
        }
    }
    // An entry point that is new altogether is asked of nobody who has not got it.
    let was_entry_point = |new: &Item| before.iter().any(|old| old.place == Place::EntryPoint && old.interface == new.interface);
    let added = after.iter().filter(|new| !before.iter().any(|old| same(old, new)));
    found.extend(
        added.filter(|new| was_entry_point(new) && new.wit.contains(": func(")).map(|new| Change::Demanded { what: named(new) }),
    );
    found
}
