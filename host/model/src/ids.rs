//! Names of things. Newtypes, so that a site's number is never taken for a request's.

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// One run of one plugin to its end, over as many starts and stops as it takes.
    CrawlId
);
number!(
    /// A request's row. Later accepted means greater.
    RequestId
);
number!(
    /// A site's row within its crawl.
    SiteId
);
number!(
    /// An event that a plugin emitted: its row.
    EventId
);
number!(
    /// A session pool's row. Pools are told apart by their [`crate::PoolPlace`].
    PoolId
);
number!(
    /// How often a shard has changed hands. An outcome with an older one than the store's is stale (S4).
    Epoch
);

/// What `use_state` and the state records are kept under (`--id`; Crawlee: the crawler's id). Stable across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CrawlerId(String);

impl CrawlerId {
    /// Takes 1 to 128 characters of letters, digits, `.`, `_` and `-`; anything else gives `None`.
    #[must_use]
    pub fn new(id: &str) -> Option<Self> {
        let fits = (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        fits.then(|| Self(id.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CrawlerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A fixed slice of a crawl's sites: the unit of ownership (S7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shard(u16);

impl Shard {
    /// How many slices the sites are cut into.
    pub const COUNT: u16 = 1_024;

    /// The pseudo-shard of what belongs to a crawl and to no site: its finish, its listeners.
    pub const CRAWL: Self = Self(Self::COUNT);

    /// The slice that a hash falls into.
    #[must_use]
    pub const fn of_hash(hash: u64) -> Self {
        Self((hash % Self::COUNT as u64) as u16)
    }

    /// Its number, 0 to 1,023, or 1,024 for [`Shard::CRAWL`].
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// The right to decide about a shard: an outcome without the store's present epoch changes nothing (S4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// What is owned.
    pub shard: Shard,
    /// Since which change of hands.
    pub epoch: Epoch,
}
