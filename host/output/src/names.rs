//! What datasets and key-value stores of ours are called in a storage folder of Crawlee's.
//!
//! Decision: each gets a name that Crawlee opens, since one odd name is no reason to keep a whole job from being exported. One
//! that Crawlee has too stays as it is; dots and underscores become hyphens; what is taken by another, or is nothing then, gets a
//! number, and that is told. The same names come to the same whenever they are exported.

use nephila_crawlee::StoreName;
use std::collections::{BTreeMap, BTreeSet};

/// What a name is called that has nothing which Crawlee's names have.
const UNNAMED: &str = "unnamed";

/// Characters of a name before its number: more than a hundred would not leave room for one.
const BEFORE_A_NUMBER: usize = 100;

/// Something that is called otherwise than its name leads to expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// Its name with us.
    pub ours: String,
    /// Its name there.
    pub theirs: String,
}

/// The names of one kind.
pub(crate) struct Names {
    given: BTreeMap<String, StoreName>,
    taken: BTreeSet<String>,
    renamed: Vec<Renamed>,
}

impl Names {
    /// `all`: what is going to be asked for. Those that can stay as they are come first.
    pub(crate) fn of<'a>(all: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = Self { given: BTreeMap::new(), taken: BTreeSet::new(), renamed: Vec::new() };
        let all: BTreeSet<&str> = all.into_iter().collect();
        let (same, others): (Vec<&str>, Vec<&str>) = all.into_iter().partition(|ours| StoreName::named(ours).is_ok());
        for ours in same.into_iter().chain(others) {
            names.theirs(ours);
        }
        names
    }

    /// The name there.
    pub(crate) fn theirs(&mut self, ours: &str) -> StoreName {
        if let Some(name) = self.given.get(ours) {
            return name.clone();
        }
        let name = self.free(StoreName::nearest(ours).ok()).unwrap_or_else(|| self.numbered(ours));
        self.given.insert(ours.to_owned(), name.clone());
        name
    }

    /// Those that got a number.
    pub(crate) fn into_renamed(self) -> Vec<Renamed> {
        self.renamed
    }

    fn numbered(&mut self, ours: &str) -> StoreName {
        let mut base: String = ours.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        base.truncate(BEFORE_A_NUMBER);
        let base = match base.trim_matches('-') {
            "" => UNNAMED,
            base => base,
        };
        let mut number = 2_u64;
        loop {
            if let Some(name) = self.free(StoreName::named(&format!("{base}-{number}")).ok()) {
                let theirs = name.name().unwrap_or_default().to_owned();
                self.renamed.push(Renamed { ours: ours.to_owned(), theirs });
                return name;
            }
            number += 1;
        }
    }

    fn free(&mut self, name: Option<StoreName>) -> Option<StoreName> {
        name.filter(|name| name.name().is_some_and(|name| self.taken.insert(name.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(all: &[&str]) -> (Vec<String>, usize) {
        let mut names = Names::of(all.iter().copied());
        let theirs = all.iter().map(|ours| names.theirs(ours).name().unwrap().to_owned()).collect();
        (theirs, names.into_renamed().len())
    }

    #[test]
    fn every_name_gets_one_of_its_own() {
        assert_eq!(named(&["price.list", "a"]), (vec!["price-list".to_owned(), "a".to_owned()], 0));
        let odd = ["a.b", "a_b", "a-b", "a-b-2", "default", "_", "...", "-x-", &"y.".repeat(64)];
        let (theirs, renamed) = named(&odd);
        assert_eq!(theirs[..8], ["a-b-3", "a-b-4", "a-b", "a-b-2", "default-2", "unnamed-3", "unnamed-2", "x"]);
        assert_eq!(theirs.iter().collect::<BTreeSet<_>>().len(), odd.len());
        assert_eq!(renamed, 5);
    }

    #[test]
    fn a_long_name_has_room_for_its_number() {
        let (long, other) = ("x".repeat(128), format!("{}_x", "x".repeat(126)));
        let dots = other.replace('_', ".");
        let (theirs, renamed) = named(&[&long, &other, &dots]);
        assert_eq!((theirs[0].as_str(), theirs[2].len(), renamed), (long.as_str(), 128, 1));
        assert!(theirs[1].ends_with("x-2"), "{theirs:?}");
    }
}
