//! Both stores keep the contract.
#![allow(clippy::expect_used, reason = "tests")]

use async_trait::async_trait;
use nephila_store::contract::Fixture;
use nephila_store::{Durability, JobDir, MemoryStore, SqliteStore, Store, store_contract};
use std::sync::Arc;
use tempfile::TempDir;

struct InMemory;

#[async_trait]
impl Fixture for InMemory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new().expect("a store"))
    }

    fn keeps(&self) -> bool {
        false
    }
}

struct InFolder {
    folder: TempDir,
    durability: Durability,
}

impl InFolder {
    fn new(durability: Durability) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), durability }
    }
}

#[async_trait]
impl Fixture for InFolder {
    async fn open(&self) -> Arc<dyn Store> {
        let (dir, lock) = JobDir::open_or_create(self.folder.path().join("job")).expect("a job");
        Arc::new(SqliteStore::open(dir, lock, self.durability).expect("a store"))
    }

    fn keeps(&self) -> bool {
        true
    }
}

mod memory {
    use super::*;
    store_contract!(InMemory);
}

mod sqlite {
    use super::*;
    store_contract!(InFolder::new(Durability::Kill));
}

mod sqlite_that_survives_loss_of_power {
    use super::*;
    store_contract!(InFolder::new(Durability::PowerLoss));
}
