//! `nephila status DIR`: where a job stands, from its folder, also while it runs.

use crate::cli::StatusOptions;
use crate::exit::Exit;
use crate::report::Shown;
use crate::voice::put;
use anyhow::{Context, Result};
use nephila_store::{JobDir, JobSnapshot, JobStatus, Pull, StoreError, read_status};
use serde_json::{Map, Value};
use std::path::Path;

/// Shows where a job stands.
pub fn status(options: &StatusOptions) -> Result<Exit> {
    let job = read_status(&JobDir::existing(&options.dir)?)?;
    let (status, finish_reason) = state(&job);
    let shown = Shown {
        record: &job.crawl,
        status,
        finish_reason,
        counts: job.counts,
        statistics: &job.statistics,
        errors: &job.errors,
        retry_errors: &job.retry_errors,
        state: &job.state,
        cost: None,
    };
    let state = options.state.then(|| state_of(&options.dir)).transpose()?;
    if options.json {
        let mut json = shown.json();
        if let (Some(state), Some(fields)) = (state, json.as_object_mut()) {
            fields.insert("state".to_owned(), state.into());
        }
        put!("{json}\n");
    } else {
        put!("{} (plugin {}, {})\n", options.dir.display(), job.crawl.plugin_name, job.crawl.crawler_id);
        put!("{}", shown.table());
        if let Some(state) = state {
            put!("state {:#}\n", Value::from(state));
        }
    }
    Ok(Exit::Done)
}

// What handlers share, as far as they have committed it.
fn state_of(dir: &Path) -> Result<Map<String, Value>> {
    let job = JobSnapshot::open(&JobDir::existing(dir)?, None)?;
    let read = |pairs: Pull<'_, (String, String)>| {
        let pair = |pair: Result<(String, String), StoreError>| {
            let (key, value) = pair?;
            let value = serde_json::from_str(&value).with_context(|| format!("the state's `{key}`"))?;
            Ok((key, value))
        };
        pairs.map(pair).collect()
    };
    job.state(read)?
}

fn state(job: &JobStatus) -> (&str, &str) {
    match &job.crawl.ending {
        _ if job.in_use => ("RUNNING", ""),
        Some(ending) => (&ending.status, &ending.reason),
        // It was opened, never closed, and nobody has it open: it died, and the same command resumes it.
        None => ("PAUSED", "died"),
    }
}
