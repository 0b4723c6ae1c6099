//! What a connection remembers of the rows, so as not to ask for it again.
//!
//! Decision: notes are of what is committed. What a transaction finds or makes is taken in when it is committed, and forgotten
//! when it is rolled back.

use super::known::{Fact, KnownKeys};
use super::sites::SiteCache;
use std::sync::Arc;

/// Notes of one connection; the keys are shared with the other one.
#[derive(Debug)]
pub(crate) struct Notes {
    /// Sites. May hold what the present transaction made.
    pub(crate) sites: SiteCache,
    /// Keys; only what is committed.
    pub(crate) known: Arc<KnownKeys>,
    /// Keys that the present transaction found or made.
    pub(crate) learnt: Vec<Fact>,
}

impl Notes {
    /// None yet.
    pub(crate) fn new(known: Arc<KnownKeys>) -> Self {
        Self { sites: SiteCache::default(), known, learnt: Vec::new() }
    }

    /// The transaction is committed.
    pub(crate) fn committed(&mut self) {
        if !self.learnt.is_empty() {
            self.known.learn(self.learnt.drain(..));
        }
    }

    /// The transaction is undone.
    pub(crate) fn rolled_back(&mut self) {
        // Some of the sites may never have been.
        self.sites.clear();
        self.learnt.clear();
    }

    /// The commit itself failed. The engine says that nothing is on the disk then; that everything on it is known here does not
    /// hang on it.
    pub(crate) fn not_known_to_be_rolled_back(&self) {
        self.known.doubt();
    }
}
