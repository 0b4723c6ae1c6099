//! What a plugin may read in a trial: what its author has written down, and nothing of any crawl.

use async_trait::async_trait;
use nephila_model::{DatasetName, KeyStanding, KvStoreName, KvValue, RequestState, RequestStatus, StateVersion, UniqueKey};
use nephila_plugin::{DatasetSlice, ReadError, Reads};
use std::collections::{BTreeMap, BTreeSet};

/// The version of everything that is there: it never changes.
const VERSION: StateVersion = StateVersion(1);

/// What is committed before a trial's call. Empty by default.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// `use_state`: JSON by key.
    pub state: BTreeMap<String, String>,
    /// Values of the crawl's own key-value store, by key.
    pub key_values: BTreeMap<String, KvValue>,
    /// Items of the crawl's own dataset, oldest first, as JSON.
    pub items: Vec<String>,
    /// The requests that were accepted: that of the call, where it has one.
    pub known: BTreeSet<[u8; 16]>,
}

impl World {
    fn knows(&self, key: UniqueKey) -> bool {
        self.known.contains(key.as_bytes())
    }
}

#[async_trait]
impl Reads for World {
    async fn standing(&self, keys: &[UniqueKey], _: u32) -> Result<Vec<KeyStanding>, ReadError> {
        let standing = |key: &UniqueKey| if self.knows(*key) { KeyStanding::Settled } else { KeyStanding::New };
        Ok(keys.iter().map(standing).collect())
    }

    async fn lookup(&self, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, ReadError> {
        let status = RequestStatus { state: RequestState::Pending, final_url: None, reason: None, status: None };
        Ok(keys.iter().map(|key| self.knows(*key).then(|| status.clone())).collect())
    }

    async fn state_get(&self, key: &str) -> Result<(Option<String>, StateVersion), ReadError> {
        let value = self.state.get(key).cloned();
        let version = if value.is_some() { VERSION } else { StateVersion(0) };
        Ok((value, version))
    }

    async fn state_keys(&self) -> Result<(Vec<String>, StateVersion), ReadError> {
        let version = if self.state.is_empty() { StateVersion(0) } else { VERSION };
        Ok((self.state.keys().cloned().collect(), version))
    }

    async fn kv_get(&self, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, ReadError> {
        Ok(match store {
            KvStoreName::Default => self.key_values.get(key).cloned(),
            KvStoreName::Named(_) => None,
        })
    }

    async fn dataset_slice(
        &self,
        dataset: &DatasetName,
        cursor: Option<&str>,
        limit: u32,
        max_bytes: usize,
    ) -> Result<DatasetSlice, ReadError> {
        let start =
            cursor.map_or(Ok(0), |cursor| cursor.parse::<usize>().map_err(|_| ReadError::BadCursor(cursor.to_owned())))?;
        let all = match dataset {
            DatasetName::Default => self.items.as_slice(),
            DatasetName::Named(_) => &[],
        };
        let mut bytes = 0_usize;
        let fits = |item: &&String| {
            let is_first = bytes == 0;
            bytes = bytes.saturating_add(item.len());
            is_first || bytes <= max_bytes
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let items: Vec<String> = all.iter().skip(start).take(limit).take_while(fits).cloned().collect();
        let end = start.saturating_add(items.len());
        Ok(DatasetSlice { items, next: (end < all.len()).then(|| end.to_string()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dataset_is_read_in_slices_each_with_one_item_at_least() {
        let world = World { items: ["1", "22", "333"].map(str::to_owned).to_vec(), ..World::default() };
        let slice = async |cursor: Option<&str>, limit, bytes| {
            world.dataset_slice(&DatasetName::Default, cursor, limit, bytes).await.expect("a slice")
        };
        assert_eq!(slice(None, 2, 100).await, DatasetSlice { items: vec!["1".into(), "22".into()], next: Some("2".into()) });
        assert_eq!(slice(Some("1"), 9, 1).await, DatasetSlice { items: vec!["22".into()], next: Some("2".into()) });
        assert_eq!(slice(Some("2"), 9, 9).await, DatasetSlice { items: vec!["333".into()], next: None });
        assert_eq!(slice(Some("3"), 9, 9).await, DatasetSlice::default());
        let bad = world.dataset_slice(&DatasetName::Default, Some("x"), 1, 1).await;
        assert_eq!(bad, Err(ReadError::BadCursor("x".to_owned())));
    }

    #[tokio::test]
    async fn what_is_not_there_has_no_version() {
        let world = World { state: BTreeMap::from([("a".to_owned(), "1".to_owned())]), ..World::default() };
        assert_eq!(world.state_get("a").await, Ok((Some("1".to_owned()), VERSION)));
        assert_eq!(world.state_get("b").await, Ok((None, StateVersion(0))));
        assert_eq!(world.state_keys().await, Ok((vec!["a".to_owned()], VERSION)));
    }
}
