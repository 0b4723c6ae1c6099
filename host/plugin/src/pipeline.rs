//! Items on their way to their datasets, which a plugin's pipeline keeps, changes, leaves out, or rejects.
//!
//! Decision: all items of one call are one entry into one sandbox, so that they share its limits (a plugin that is given ten thousand items
//! has no more time for them than a handler had to make them) and the cost of making it. What a pipeline lets pass goes through
//! the same quotas as what a handler pushes. It sees the state as the calls before it left it, so that one which counts or looks
//! for duplicates sees the items before, those of the same page too.

use crate::bindings::exports::nephila::crawler::pipeline::{Guest, Item, Verdict};
use crate::bindings::nephila::crawler::types::{Ending, Error as GuestError};
use crate::call::{Call, CallReport};
use crate::failure::{one_line, word};
use crate::fault::Fault;
use crate::json;
use crate::message::in_one_line;
use crate::plugin::Plugin;
use crate::run::{Answer, Entry, Ran};
use crate::sandbox::{Inside, Occasion};
use nephila_model::{DatasetName, Effects, ItemPush};
use std::collections::BTreeMap;
use wasmtime::Store;

/// The code of a call of which an item was rejected.
const REJECTED: &str = "item-rejected";

/// What a pipeline made of the items of one call.
#[derive(Debug)]
pub struct PipelineReport {
    /// How it ended, and what it wants done: its items are those that pass, in order, as they are now. A rejected item is a failure with
    /// the code `item-rejected`.
    pub report: CallReport,
    /// Items that it left out, by reason.
    pub dropped: BTreeMap<String, u32>,
}

/// What the items of one call came to inside the sandbox. Those that pass are in the call's draft.
pub(crate) struct Processed {
    dropped: BTreeMap<String, u32>,
    ended: Result<(), GuestError>,
}

impl Plugin {
    /// Has it look at the items of a call that has ended well. `call` is what that was called with, but that its session is not there;
    /// what it, and the pipelines before this one, did to the state is among what is `earlier`. Without the entry point, all items pass.
    pub async fn process(&self, call: Call, items: Vec<ItemPush>) -> PipelineReport {
        if !self.entry_points().pipeline {
            let nothing = CallReport::nothing();
            let report = CallReport { effects: Effects { items, ..Effects::default() }, ..nothing };
            return PipelineReport { report, dropped: BTreeMap::new() };
        }
        let limits = call.settings.limits;
        let occasion = Occasion::Items(Call { session: None, ..call });
        let ran = self.run(occasion, limits, Entry::Process(items)).await;
        let mut dropped = BTreeMap::new();
        let answer = ran.answer.map_err(|failure| failure.of_pipeline(self.name())).map(|answer| match answer {
            Answer::Processed(processed) => {
                dropped = processed.dropped;
                let of_pipeline = |error: GuestError| GuestError {
                    message: format!("in the pipeline of {}: {}", self.name(), error.message),
                    ..error
                };
                Answer::Ended(processed.ended.map_err(of_pipeline))
            }
            other => other,
        });
        let report = Ran { answer, ..ran }.report();
        if report.ended.is_err() {
            dropped.clear();
        }
        PipelineReport { report, dropped }
    }
}

/// Calls the entry point for one item after another, until one is rejected or a call gives up.
pub(crate) async fn process(pipeline: &Guest, store: &mut Store<Inside>, items: Vec<ItemPush>) -> wasmtime::Result<Processed> {
    let mut dropped = BTreeMap::new();
    let url = store.data().present.as_ref().map(|present| present.call.url()).filter(|url| !url.is_empty()).map(str::to_owned);
    for (place, ItemPush { dataset, json }) in items.into_iter().enumerate() {
        let name = match &dataset {
            DatasetName::Default => None,
            DatasetName::Named(name) => Some(name.clone()),
        };
        let mut item = Item { dataset: name, json, url: url.clone(), extra_json: None };
        let verdict = match pipeline.call_process_item(&mut *store, &item).await? {
            Ok(verdict) => verdict,
            Err(error) => return Ok(Processed { dropped, ended: Err(error) }),
        };
        match verdict {
            Verdict::Keep => {}
            Verdict::Change(json) => item.json = json,
            Verdict::Drop(reason) => {
                let count: &mut u32 = dropped.entry(named(&reason)).or_default();
                *count = count.saturating_add(1);
                continue;
            }
            Verdict::Reject(reason) => {
                let message = format!("item {place}: {}", in_one_line(&reason, 2_000));
                let error = GuestError { code: REJECTED.to_owned(), message, ending: Some(Ending::Fatal) };
                return Ok(Processed { dropped, ended: Err(error) });
            }
        }
        match store.data_mut().pass(place, &dataset, item.json) {
            Ok(()) => {}
            Err(Fault::Refused { code, message }) => {
                let error = GuestError { code: code.to_owned(), message, ending: None };
                return Ok(Processed { dropped, ended: Err(error) });
            }
            Err(Fault::Trap(error)) => return Err(error),
        }
    }
    Ok(Processed { dropped, ended: Ok(()) })
}

impl Inside {
    // Lets an item pass, within the quotas of a call.
    fn pass(&mut self, place: usize, dataset: &DatasetName, item: String) -> Result<(), Fault> {
        self.check_time()?;
        json::check_object(&item).map_err(|cause| {
            let (cause, begins) = (one_line(&cause, 200), one_line(&item, 60));
            Fault::refused(
                "bad-json",
                format!("what item {place} was changed into is not a JSON object: {cause}; it begins `{begins}`"),
            )
        })?;
        self.present()?.draft.push(dataset, vec![json::into_one_line(item)])
    }
}

// The name under which an item that was left out is counted.
fn named(reason: &str) -> String {
    if reason.trim().is_empty() { "dropped".to_owned() } else { word(reason) }
}
