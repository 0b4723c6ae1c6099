//! `key-value`: small files by name. A call sees its own writes.
//!
//! Decision: an auto-saved value is state under a key of its own ([`AutoSaved`]); only its first value comes from the record, which is
//! a read of the call then: if it has changed by the commit, the call runs again.

use crate::bindings::nephila::crawler::key_value;
use crate::failure::one_line;
use crate::fault::Fault;
use crate::sandbox::Inside;
use crate::{json, names};
use nephila_model::{AutoSaved, KvStoreName, KvValue, StateOp};

impl key_value::Host for Inside {
    async fn get(&mut self, store: Option<String>, key: String) -> Result<Option<key_value::Entry>, Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        Ok(self.record(&store, &key).await?.as_ref().map(entry))
    }

    fn set(&mut self, store: Option<String>, key: String, entry: key_value::Entry) -> Result<(), Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        names::short("media type", &entry.content_type, 256)?;
        let value = KvValue { content_type: entry.content_type, value: entry.value.into() };
        self.acting()?.draft.write(store, key, Some(value))
    }

    fn remove(&mut self, store: Option<String>, key: String) -> Result<(), Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        self.acting()?.draft.write(store, key, None)
    }

    async fn get_auto_saved(&mut self, store: Option<String>, key: String) -> Result<Option<String>, Fault> {
        let value = self.auto_saved(store, key)?;
        if let Some(saved) = self.state_value(&value.state_key()).await? {
            return Ok(Some(saved));
        }
        let Some(record) = self.first_of(&value).await? else { return Ok(None) };
        let text = std::str::from_utf8(&record.value).map_err(|error| error.to_string());
        match text.and_then(|text| json::check(text).map(|()| text)) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(cause) => Err(bad_value("the record", &value.key, &cause)),
        }
    }

    fn set_auto_saved(&mut self, store: Option<String>, key: String, value: String) -> Result<(), Fault> {
        let saved = self.auto_saved(store, key)?;
        let limit = self.limits.state_value_bytes;
        if value.len() > limit {
            let (key, bytes) = (one_line(&saved.key, 80), value.len());
            return Err(Fault::quota(format!(
                "the auto-saved value `{key}` would have {bytes} bytes, and {limit} are allowed; keep lists in a dataset instead"
            )));
        }
        json::check(&value).map_err(|cause| bad_value("the auto-saved value", &saved.key, &cause))?;
        self.operate_on(StateOp::Set { key: saved.state_key(), value })
    }
}

impl Inside {
    // The record that an auto-saved value begins with. What the call itself has written there has been read nowhere.
    async fn first_of(&mut self, value: &AutoSaved) -> Result<Option<KvValue>, Fault> {
        let record = self.record(&value.store, &value.key).await?;
        let present = self.present()?;
        if present.draft.written(&value.store, &value.key).is_none() {
            present.state.read_record(value.clone(), record.clone());
        }
        Ok(record)
    }

    // What is under a key now, this call's own writes included.
    async fn record(&mut self, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, Fault> {
        let present = self.present()?;
        if let Some(own) = present.draft.written(store, key) {
            return Ok(own.cloned());
        }
        let reads = present.call.reads.clone();
        self.wait(reads.kv_get(store, key)).await
    }

    fn auto_saved(&self, store: Option<String>, key: String) -> Result<AutoSaved, Fault> {
        names::key("key-value", &key, self.limits.key_length)?;
        Ok(AutoSaved { store: names::store(store)?, key })
    }
}

fn bad_value(what: &str, key: &str, cause: &str) -> Fault {
    Fault::refused("bad-json", format!("{what} `{}` is not JSON: {}", one_line(key, 80), one_line(cause, 200)))
}

fn entry(value: &KvValue) -> key_value::Entry {
    key_value::Entry { content_type: value.content_type.clone(), value: value.value.to_vec() }
}
