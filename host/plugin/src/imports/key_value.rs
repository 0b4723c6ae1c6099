//! `key-value`: small files by name. A call sees its own writes.

use crate::bindings::nephila::crawler::key_value;
use crate::fault::Fault;
use crate::names;
use crate::sandbox::Inside;
use nephila_model::KvValue;

impl key_value::Host for Inside {
    async fn get(&mut self, store: Option<String>, key: String) -> Result<Option<key_value::Entry>, Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        let present = self.present()?;
        if let Some(own) = present.draft.written(&store, &key) {
            return Ok(own.map(entry));
        }
        let reads = present.call.reads.clone();
        let value = self.wait(reads.kv_get(&store, &key)).await?;
        Ok(value.as_ref().map(entry))
    }

    fn set(&mut self, store: Option<String>, key: String, entry: key_value::Entry) -> Result<(), Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        names::short("media type", &entry.content_type, 256)?;
        let value = KvValue { content_type: entry.content_type, value: entry.value.into() };
        self.present()?.draft.write(store, key, Some(value))
    }

    fn remove(&mut self, store: Option<String>, key: String) -> Result<(), Fault> {
        let (store, _) = (names::store(store)?, names::key("key-value", &key, self.limits.key_length)?);
        self.present()?.draft.write(store, key, None)
    }
}

fn entry(value: &KvValue) -> key_value::Entry {
    key_value::Entry { content_type: value.content_type.clone(), value: value.value.to_vec() }
}
