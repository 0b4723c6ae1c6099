//! `dataset`: items, appended and read.

use crate::bindings::nephila::crawler::dataset;
use crate::failure::one_line;
use crate::fault::Fault;
use crate::sandbox::Inside;
use crate::{json, names};

/// Items of one read.
const MOST: u32 = 1_000;

/// Bytes of one read.
const MOST_BYTES: usize = 8 << 20;

impl dataset::Host for Inside {
    fn push(&mut self, name: Option<String>, items: Vec<String>) -> Result<(), Fault> {
        self.check_time()?;
        let present = self.acting()?;
        let name = names::dataset(name)?;
        let mut checked = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            json::check_object(&item).map_err(|cause| {
                let message =
                    format!("item {place} is not a JSON object: {}; it begins `{}`", one_line(&cause, 200), one_line(&item, 60));
                Fault::refused("bad-json", message)
            })?;
            checked.push(json::into_one_line(item));
        }
        present.draft.push(&name, checked)
    }

    async fn read(&mut self, name: Option<String>, cursor: Option<String>, limit: u32) -> Result<dataset::Slice, Fault> {
        let name = names::dataset(name)?;
        let reads = self.present()?.call.reads.clone();
        let read = reads.dataset_slice(&name, cursor.as_deref(), limit.clamp(1, MOST), MOST_BYTES);
        let slice = self.wait(read).await?;
        Ok(dataset::Slice { items: slice.items, next: slice.next })
    }
}
