//! Crawls as a list: those of one store, and those of a folder of jobs, as ./storage/runs is.
//!
//! Decision: a job that cannot be read is a line that says so, since it is no reason to hide the others.

use crate::moment;
use crate::voice::one_line;
use nephila_store::{Activity, CrawlRecord, CrawlSummary, JobDir, list_crawls};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A crawl's state and why it ended, in the words of docs/cli.md.
pub fn state(crawl: &CrawlRecord, activity: Activity) -> (&str, &str) {
    match (activity, &crawl.ending) {
        (Activity::Running, _) => ("RUNNING", ""),
        (Activity::AtRest, Some(ending)) => (&ending.status, &ending.reason),
        // It was opened, never closed, and nobody works on it: it died, and the same command resumes it.
        (Activity::AtRest, None) => ("PAUSED", "died"),
    }
}

/// A crawl on one line, under this name.
pub fn line(crawl: &CrawlSummary, name: &str) -> String {
    let (status, reason) = state(&crawl.crawl, crawl.activity);
    let state = if reason.is_empty() { status.to_owned() } else { format!("{status} ({reason})") };
    let counts = crawl.counts;
    let opened = moment::text(crawl.crawl.opened_at);
    format!(
        "  {opened}  {state:<24} {} finished, {} failed, {} skipped, {} pending, {} items  {} (plugin {})\n",
        counts.handled,
        counts.failed,
        counts.skipped,
        counts.pending,
        crawl.items,
        one_line(name),
        one_line(&crawl.crawl.plugin_name)
    )
}

/// The same as JSON, with the names that `--json` has for one crawl.
pub fn json(crawl: &CrawlSummary) -> Value {
    let (status, reason) = state(&crawl.crawl, crawl.activity);
    let counts = crawl.counts;
    json!({
        "crawlId": crawl.crawl.id,
        "crawlerId": crawl.crawl.crawler_id,
        "plugin": crawl.crawl.plugin_name,
        "status": status,
        "finishReason": reason,
        "openedAt": moment::text(crawl.crawl.opened_at),
        "requestsTotal": counts.pending + counts.handled + counts.failed + counts.skipped,
        "requestsPending": counts.pending,
        "requestsFinished": counts.handled,
        "requestsFailed": counts.failed,
        "items": crawl.items,
    })
}

/// The jobs in a folder, the last name first: names under ./storage/runs begin with the time.
///
/// # Errors
/// If the folder cannot be read.
pub fn jobs_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut jobs: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir() && JobDir::existing(path).is_ok())
        .collect();
    jobs.sort();
    jobs.reverse();
    Ok(jobs)
}

/// The crawls of a job, a line each, under the folder's name.
pub fn run_lines(job: &Path) -> String {
    match crawls_of(job) {
        Ok(crawls) => {
            let name = job.display();
            let named = |crawl: &CrawlSummary| match crawls.len() {
                1 => line(crawl, &name.to_string()),
                _ => line(crawl, &format!("{name} --id {}", crawl.crawl.crawler_id)),
            };
            crawls.iter().map(named).collect()
        }
        Err(cause) => format!("  {}: {}\n", job.display(), one_line(&cause)),
    }
}

/// The same as JSON, each with the folder.
pub fn runs_json(job: &Path) -> Vec<Value> {
    let with_folder = |mut value: Value| {
        value["folder"] = job.display().to_string().into();
        value
    };
    match crawls_of(job) {
        Ok(crawls) => crawls.iter().map(json).map(with_folder).collect(),
        Err(cause) => vec![with_folder(json!({ "error": cause }))],
    }
}

fn crawls_of(job: &Path) -> Result<Vec<CrawlSummary>, String> {
    JobDir::existing(job).and_then(|dir| list_crawls(&dir)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::{CrawlId, CrawlerId, Timestamp};
    use nephila_store::{Counts, CrawlEnding, InHand};

    #[test]
    fn a_crawl_is_one_line_with_its_date_its_state_and_its_counts() {
        let at = Timestamp::from_millis(1_785_585_600_000);
        let ending = CrawlEnding { status: "SUCCEEDED".into(), reason: "finished".into(), at, in_hand: InHand::Finished };
        let crawl = CrawlRecord {
            id: CrawlId(1),
            crawler_id: CrawlerId::new("shop").expect("an id"),
            plugin_name: "books".to_owned(),
            plugin_digest: "d1".to_owned(),
            created_at: at,
            opened_at: at,
            openings: 1,
            ending: Some(ending),
            finish_done: true,
            status_message: None,
            stop_reason: None,
        };
        let counts = Counts { pending: 1, handled: 90, failed: 2, skipped: 3 };
        let done = CrawlSummary { crawl, activity: Activity::AtRest, counts, items: 81 };
        assert_eq!(
            line(&done, "shop"),
            "  2026-08-01T12:00:00Z  SUCCEEDED (finished)     90 finished, 2 failed, 3 skipped, 1 pending, 81 items  \
             shop (plugin books)\n"
        );
        assert_eq!((&json(&done)["requestsTotal"], &json(&done)["status"]), (&json!(96), &json!("SUCCEEDED")));
        let runs = CrawlSummary { activity: Activity::Running, ..done.clone() };
        assert!(line(&runs, "shop").contains("Z  RUNNING  "), "{}", line(&runs, "shop"));
        let died = CrawlSummary { crawl: CrawlRecord { ending: None, ..done.crawl }, ..runs };
        let died = CrawlSummary { activity: Activity::AtRest, ..died };
        assert!(line(&died, "shop").contains("PAUSED (died)"));
    }
}
