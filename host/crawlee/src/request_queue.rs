//! A request queue's folder: a file for each request, named after its key (Crawlee for Python: `FileSystemRequestQueueClient`).
//!
//! Decision: it is only ever made anew. Whether Crawlee's key of a request is taken by another one is told by the file that is there
//! already, so that ten million requests need no list in memory; the later one keeps the key that it has with us. The order is kept apart, in
//! [`crate::QueueState`], under the queue's id, which is the crawler's, so that it is the same at each export.

use crate::folder::{Folder, Part};
use crate::key::STORE_METADATA;
use crate::metadata::StoreMetadata;
use crate::{CrawleeError, ListedRequest, StoreName};
use nephila_model::{CrawlerId, Timestamp};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::Path;

/// How many digits of the key's hash a file's name has.
const NAME_DIGITS: usize = 15;

/// A queue that is being written.
#[derive(Debug)]
pub struct RequestQueueWriter {
    folder: Folder,
    metadata: StoreMetadata,
    pending: u64,
    handled: u64,
}

impl RequestQueueWriter {
    /// Makes the queue without a name in a storage folder.
    ///
    /// # Errors
    /// [`CrawleeError::NotEmpty`] if there is one, [`CrawleeError::NotAFolder`], [`CrawleeError::Io`].
    pub fn create(storage: &Path, id: &CrawlerId) -> Result<Self, CrawleeError> {
        let folder = Folder::make(storage, Part::RequestQueues, &StoreName::DEFAULT)?;
        folder.check_empty()?;
        let metadata = StoreMetadata { id: id.to_string(), ..StoreMetadata::new(None, Timestamp::now()) };
        Ok(Self { folder, metadata, pending: 0, handled: 0 })
    }

    /// Adds a request, and gives the key that it has there.
    ///
    /// # Errors
    /// [`CrawleeError::DiskFull`], [`CrawleeError::Io`].
    pub fn add(&mut self, request: ListedRequest<'_>) -> Result<String, CrawleeError> {
        let ours = || request.request.unique_key.to_string();
        let mut key = request.crawlees_key().unwrap_or_else(ours);
        if self.folder.has(&file_of(&key))? {
            key = ours();
        }
        let shape = request.shape(&key);
        self.folder.replace(&file_of(&key), |out| Ok(serde_json::to_writer_pretty(out, &shape)?))?;
        *(if request.is_done() { &mut self.handled } else { &mut self.pending }) += 1;
        Ok(key)
    }

    /// Writes the metadata, and says how many requests there are.
    ///
    /// # Errors
    /// As [`RequestQueueWriter::add`].
    pub fn finish(mut self) -> Result<u64, CrawleeError> {
        let total = self.pending + self.handled;
        for (name, value) in [
            ("had_multiple_clients", false.into()),
            ("handled_request_count", self.handled.into()),
            ("pending_request_count", self.pending.into()),
            ("total_request_count", total.into()),
        ] {
            self.metadata.others.insert(name.to_owned(), value);
        }
        self.folder.replace(STORE_METADATA, |out| Ok(serde_json::to_writer_pretty(out, &self.metadata)?))?;
        Ok(total)
    }
}

fn file_of(key: &str) -> String {
    let mut name = String::with_capacity(NAME_DIGITS + 6);
    for byte in Sha256::digest(key.as_bytes()).iter().take(NAME_DIGITS.div_ceil(2)) {
        // Writing to a text never fails.
        let _ = write!(name, "{byte:02x}");
    }
    name.truncate(NAME_DIGITS);
    name + ".json"
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::{Position, QueuedRequest, RequestId, RequestSpec, RequestState, SiteId, UniqueKey};
    use serde_json::{Value, json};
    use std::fs;
    use url::Url;

    fn request(url: &str) -> QueuedRequest {
        let url = Url::parse(url).unwrap();
        QueuedRequest {
            id: RequestId(1),
            site: SiteId(1),
            position: Position { priority: 0, rank: 1 },
            unique_key: UniqueKey::of(&url, nephila_model::Method::Get, None),
            original_url: url.clone(),
            url,
            label: Some("detail".to_owned()),
            depth: 2,
            retry_count: 1,
            chain: Vec::new(),
            spec: RequestSpec { user_data: Some(r#"{"sku":7}"#.to_owned()), ..RequestSpec::default() },
        }
    }

    #[test]
    fn a_file_is_named_as_crawlee_names_it() {
        // From `hashlib.sha256(key.encode()).hexdigest()[:15]`.
        assert_eq!(file_of("https://site.test/r1"), "12e4edb653b7a59.json");
    }

    #[test]
    fn a_request_whose_key_is_taken_keeps_ours() {
        let storage = tempfile::tempdir().unwrap();
        let mut queue = RequestQueueWriter::create(storage.path(), &CrawlerId::new("shop").unwrap()).unwrap();
        let listed = |request, state| ListedRequest { request, state, final_url: None, done_at: Timestamp::from_millis(0) };
        let (upper, lower) = (request("http://site.test/A"), request("http://site.test/a"));
        assert_eq!(queue.add(listed(&upper, RequestState::Handled)).unwrap(), "http://site.test/a");
        let key = queue.add(listed(&lower, RequestState::Pending)).unwrap();
        assert_eq!(key, lower.unique_key.to_string());
        assert_eq!(queue.finish().unwrap(), 2);
        let folder = storage.path().join("request_queues/default");
        let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap() };
        let metadata = read("__metadata__.json");
        assert_eq!((&metadata["id"], &metadata["handled_request_count"]), (&json!("shop"), &json!(1)));
        assert_eq!((&metadata["pending_request_count"], &metadata["total_request_count"]), (&json!(1), &json!(2)));
        let done = read(&file_of("http://site.test/a"));
        assert_eq!((&done["url"], &done["loaded_url"]), (&json!("http://site.test/A"), &json!("http://site.test/A")));
        assert!(done["handled_at"].is_string() && read(&file_of(&key))["handled_at"].is_null());
        let crawlee = json!({ "state": 4, "crawlDepth": 2 });
        assert_eq!(done["user_data"], json!({ "sku": 7, "label": "detail", "__crawlee": crawlee }));
    }
}
