//! `nephila status DIR`: where a job stands, from its folder, also while it runs.

use crate::cli::StatusOptions;
use crate::exit::Exit;
use crate::report::Shown;
use crate::voice::put;
use anyhow::Result;
use nephila_store::{JobDir, JobStatus, read_status};

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
    if options.json {
        put!("{}\n", shown.json());
    } else {
        put!("{} (plugin {}, {})\n", options.dir.display(), job.crawl.plugin_name, job.crawl.crawler_id);
        put!("{}", shown.table());
    }
    Ok(Exit::Done)
}

fn state(job: &JobStatus) -> (&str, &str) {
    match &job.crawl.ending {
        _ if job.in_use => ("RUNNING", ""),
        Some(ending) => (&ending.status, &ending.reason),
        // It was opened, never closed, and nobody has it open: it died, and the same command resumes it.
        None => ("PAUSED", "died"),
    }
}
