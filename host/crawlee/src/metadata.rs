//! The two kinds of metadata files.
//!
//! Decision: written in the words of Crawlee for Python (`content_type`), read in those of both. A record's metadata carries its type
//! a second time in JavaScript's word (`contentType`), without which Crawlee for JavaScript takes every record for text; Python
//! ignores it. What a store's metadata holds beside the five known fields stays as it was found.

use crate::time::in_metadata;
use nephila_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Bytes of a metadata file at most: more is none.
pub(crate) const MAX_METADATA_BYTES: u64 = 64 << 10;

/// How many characters Crawlee for Python gives to the id of a storage (`crypto_random_object_id`).
const ID_LENGTH: usize = 17;

const ID_CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// What is said about a store (Crawlee: `KeyValueStoreMetadata`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreMetadata {
    /// Crawlee for Python tells storages apart by it, also those of different folders: it must be unique in the world.
    pub id: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(alias = "accessedAt")]
    pub accessed_at: String,
    #[serde(alias = "createdAt")]
    pub created_at: String,
    #[serde(alias = "modifiedAt")]
    pub modified_at: String,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl StoreMetadata {
    /// Of a new store.
    pub(crate) fn new(name: Option<&str>, now: Timestamp) -> Self {
        let now = in_metadata(now);
        Self {
            id: new_id(),
            name: name.map(str::to_owned),
            accessed_at: now.clone(),
            created_at: now.clone(),
            modified_at: now,
            others: Map::new(),
        }
    }

    /// Something was written.
    pub(crate) fn touch(&mut self, now: Timestamp) {
        self.accessed_at = in_metadata(now);
        self.modified_at.clone_from(&self.accessed_at);
    }
}

// Unique, not secret: the standard library's hashers begin with random keys of the system's.
fn new_id() -> String {
    let mut id = String::with_capacity(ID_LENGTH);
    while id.len() < ID_LENGTH {
        let mut bits = RandomState::new().build_hasher().finish();
        // Ten characters take the better part of 64 bits.
        for _ in 0..10.min(ID_LENGTH - id.len()) {
            id.push(char::from(ID_CHARACTERS[usize::try_from(bits % 62).unwrap_or(0)]));
            bits /= 62;
        }
    }
    id
}

/// What is said about a record (Crawlee: `KeyValueStoreRecordMetadata`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordMetadata {
    pub key: String,
    pub content_type: String,
    pub size: Option<u64>,
}

#[derive(Serialize)]
struct Written<'a> {
    key: &'a str,
    content_type: &'a str,
    size: Option<u64>,
    #[serde(rename = "contentType")]
    content_type_js: &'a str,
}

// Two fields and not one with an alias, since a file may well have both.
#[derive(Deserialize)]
struct Found {
    key: String,
    content_type: Option<String>,
    #[serde(rename = "contentType")]
    content_type_js: Option<String>,
    #[serde(default)]
    size: Option<u64>,
}

impl RecordMetadata {
    /// As the bytes of a file.
    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let Self { key, content_type, size } = self;
        serde_json::to_vec_pretty(&Written { key, content_type, size: *size, content_type_js: content_type })
    }

    /// From the bytes of a file. Python's word wins: it is the one that Python and we write last.
    pub(crate) fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        let Found { key, content_type, content_type_js, size } = serde_json::from_slice(bytes)?;
        match content_type.or(content_type_js) {
            Some(content_type) => Ok(Self { key, content_type, size }),
            None => Err(serde::de::Error::missing_field("content_type")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_look_like_crawlees_and_differ() {
        let ids: std::collections::HashSet<String> = (0..1_000).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 17 && id.bytes().all(|b| b.is_ascii_alphanumeric())));
    }

    #[test]
    fn metadata_of_a_record_is_read_in_both_dialects() {
        let metadata = RecordMetadata { key: "a/b".to_owned(), content_type: "text/html".to_owned(), size: Some(7) };
        assert_eq!(RecordMetadata::from_json(&metadata.to_json().unwrap()).unwrap(), metadata);
        let python = br#"{"key": "a/b", "content_type": "text/html", "size": 7}"#;
        assert_eq!(RecordMetadata::from_json(python).unwrap(), metadata);
        let javascript = br#"{"key":"a/b","contentType":"text/html","extension":"html"}"#;
        assert_eq!(RecordMetadata::from_json(javascript).unwrap(), RecordMetadata { size: None, ..metadata });
        assert!(RecordMetadata::from_json(br#"{"key": "a/b"}"#).is_err());
        assert!(RecordMetadata::from_json(b"[]").is_err());
    }

    #[test]
    fn what_is_not_known_of_a_store_is_kept() {
        let found = r#"{"id": "x", "name": null, "accessedAt": "a", "createdAt": "c", "modifiedAt": "m", "userId": "1"}"#;
        let mut metadata: StoreMetadata = serde_json::from_str(found).unwrap();
        metadata.touch(Timestamp::from_millis(1_500));
        let written = serde_json::to_value(&metadata).unwrap();
        let now = "1970-01-01 00:00:01.500000+00:00";
        assert_eq!(
            written,
            serde_json::json!({
                "id": "x", "name": null, "accessed_at": now, "created_at": "c", "modified_at": now, "userId": "1"
            })
        );
    }
}
