//! Which key-value store: the folder's name.
//!
//! Decision: the store without a name is a case of its own, as in Crawlee, since Crawlee *purges* it when a run starts
//! (`CRAWLEE_PURGE_ON_START`) and keeps the named ones. The price: a store of ours whose name has dots or underscores has another
//! one there.

use crate::CrawleeError;
use nephila_model::KvStoreName;

/// The folder of the store without a name.
const DEFAULT: &str = "default";

/// A longer name is nothing that a person typed.
const MAX_NAME_BYTES: usize = 128;

/// A key-value store of Crawlee's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct StoreName(Option<String>);

impl StoreName {
    /// The store without a name, in the folder `default`. Crawlee for Python purges it on start unless `purge_on_start` is false.
    pub const DEFAULT: Self = Self(None);

    /// A named store: letters, digits, and hyphens that are neither first nor last (Crawlee: `NAME_REGEX`), 128 bytes at most.
    ///
    /// # Errors
    /// [`CrawleeError::StoreName`].
    pub fn named(name: &str) -> Result<Self, CrawleeError> {
        let fits = (1..=MAX_NAME_BYTES).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !name.starts_with('-')
            && !name.ends_with('-')
            && name != DEFAULT;
        if fits { Ok(Self(Some(name.to_owned()))) } else { Err(CrawleeError::StoreName { name: shortened(name) }) }
    }

    /// The name that is nearest to one of ours, which may also have dots and underscores: they become hyphens.
    ///
    /// # Errors
    /// [`CrawleeError::StoreName`] if that is no name either.
    pub fn nearest(name: &str) -> Result<Self, CrawleeError> {
        Self::named(name.replace(['.', '_'], "-").trim_matches('-'))
    }

    /// The name; `None` for the store without one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The folder's name.
    pub(crate) fn folder(&self) -> &str {
        self.name().unwrap_or(DEFAULT)
    }
}

impl TryFrom<&KvStoreName> for StoreName {
    type Error = CrawleeError;

    fn try_from(name: &KvStoreName) -> Result<Self, CrawleeError> {
        match name {
            KvStoreName::Default => Ok(Self::DEFAULT),
            KvStoreName::Named(name) => Self::named(name),
        }
    }
}

/// As much of a text as belongs into a message.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_crawlee_opens() {
        for name in ["a", "7", "my-store", "My-Store-2", &"x".repeat(128)] {
            assert_eq!(StoreName::named(name).unwrap().folder(), name);
        }
        for name in ["", "-a", "a-", "a_b", "a.b", "../x", "a/b", "ä", "a\0b", "default", &"x".repeat(129)] {
            assert!(matches!(StoreName::named(name), Err(CrawleeError::StoreName { .. })), "{name:?}");
        }
        assert_eq!(StoreName::nearest("_a.b_c-").unwrap().folder(), "a-b-c");
        assert!(StoreName::nearest("._").is_err());
        assert_eq!(StoreName::DEFAULT.folder(), "default");
    }

    #[test]
    fn the_stores_of_a_crawl_have_their_names() {
        assert_eq!(StoreName::try_from(&KvStoreName::Default).unwrap(), StoreName::DEFAULT);
        assert_eq!(StoreName::try_from(&KvStoreName::Named("a-b".to_owned())).unwrap().name(), Some("a-b"));
        let error = StoreName::try_from(&KvStoreName::Named("a_b".to_owned())).unwrap_err();
        assert!(error.to_string().contains("use up to 128 letters, digits and inner hyphens"), "{error}");
    }
}
