//! `nephila status DIR`: where a job stands, from its folder, also while it runs; of several in one place, where each of them
//! does.

use crate::cli::StatusOptions;
use crate::exit::Exit;
use crate::job_list::{self, state};
use crate::report::Shown;
use crate::voice::{note, one_line, print, put};
use anyhow::{Context, Result, bail};
use nephila_model::CrawlerId;
use nephila_store::{
    FailedRequest, FailedRequests, JobDir, JobSnapshot, JobStatus, Pull, StoreError, list_crawls, read_status_of,
};
use serde_json::{Map, Value};

/// Bytes that are put together before they are printed: a crawl may have any number of failed requests.
const PRINTED: usize = 64 << 10;

/// Shows where a job stands.
pub fn status(options: &StatusOptions) -> Result<Exit> {
    let crawler = options.id.as_deref().map(|id| CrawlerId::new(id).with_context(|| format!("--id {id}: this is no crawler id")));
    let crawler = crawler.transpose()?;
    match JobDir::existing(&options.dir) {
        Ok(dir) => of_job(options, &dir, crawler.as_ref())?,
        Err(error @ StoreError::NoJob { .. }) if options.dir.is_dir() => of_folder(options, error)?,
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Done)
}

fn of_job(options: &StatusOptions, dir: &JobDir, crawler: Option<&CrawlerId>) -> Result<()> {
    let crawls = if crawler.is_some() { Vec::new() } else { list_crawls(dir)? };
    let is_one_of_several = crawls.len() > 1;
    if is_one_of_several && !options.json && !options.failed && !options.state {
        put!("{} has {} crawls; --id ID shows one of them\n", options.dir.display(), crawls.len());
        crawls.iter().for_each(|crawl| put!("{}", job_list::line(crawl, crawl.crawl.crawler_id.as_str())));
        return Ok(());
    }
    let job = read_status_of(dir, crawler)?;
    if is_one_of_several {
        note!("this is the crawl `{}`, which was opened last, of {}; --id ID shows another", job.crawl.crawler_id, crawls.len());
    }
    if options.failed {
        return list_failed(options, dir, &job.crawl.crawler_id);
    }
    let state = options.state.then(|| state_of(dir, &job.crawl.crawler_id)).transpose()?;
    let shown = shown(&job);
    if options.json {
        let mut json = shown.json();
        if let Some(fields) = json.as_object_mut() {
            if let Some(state) = state {
                fields.insert("state".to_owned(), state.into());
            }
            if is_one_of_several {
                fields.insert("crawls".to_owned(), crawls.iter().map(job_list::json).collect());
            }
        }
        put!("{json}\n");
    } else {
        put!("{} (plugin {}, {})\n", options.dir.display(), job.crawl.plugin_name, job.crawl.crawler_id);
        put!("{}", shown.table());
        if let Some(state) = state {
            put!("state {:#}\n", Value::from(state));
        }
    }
    Ok(())
}

fn shown(job: &JobStatus) -> Shown<'_> {
    let (status, finish_reason) = state(&job.crawl, job.activity);
    Shown {
        record: &job.crawl,
        status,
        finish_reason,
        counts: job.counts,
        statistics: &job.statistics,
        errors: &job.errors,
        retry_errors: &job.retry_errors,
        state: &job.state,
        cost: None,
    }
}

// A folder of jobs, as ./storage/runs is.
fn of_folder(options: &StatusOptions, no_job: StoreError) -> Result<()> {
    let folder = &options.dir;
    let jobs = job_list::jobs_in(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let Some(newest) = jobs.first() else {
        let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            return Err(no_job.into());
        }
        bail!(
            "there is no job in {}, nor in a folder in it; give the folder of --job or --store, or ./storage/runs for crawls \
             without",
            folder.display()
        );
    };
    if options.failed || options.state || options.id.is_some() {
        bail!(
            "{} is no job, but holds {}; give the folder of one, as in: nephila status {}",
            folder.display(),
            jobs.len(),
            newest.display()
        );
    }
    if options.json {
        put!(
            "{}\n",
            Value::from(Map::from_iter([("runs".to_owned(), jobs.iter().flat_map(|job| job_list::runs_json(job)).collect())]))
        );
    } else {
        jobs.iter().for_each(|job| put!("{}", job_list::run_lines(job)));
    }
    Ok(())
}

// Nothing of the job is held while this prints, however slow its reader is.
fn list_failed(options: &StatusOptions, dir: &JobDir, crawler: &CrawlerId) -> Result<()> {
    let (mut text, mut found) = (String::new(), false);
    for failed in FailedRequests::open(dir, Some(crawler))? {
        let failed = failed?;
        found = true;
        let line = if options.json { serde_json::to_string(&failed)? } else { failed_line(&failed) };
        text.push_str(&line);
        text.push('\n');
        if text.len() >= PRINTED {
            print(&text);
            text.clear();
        }
    }
    print(&text);
    if !found {
        note!("no request of this crawl has failed");
    }
    Ok(())
}

fn failed_line(failed: &FailedRequest) -> String {
    let times = if failed.attempts == 1 { "attempt" } else { "attempts" };
    one_line(&format!("{} {} after {} {times}: {}", failed.url, failed.code, failed.attempts, failed.message))
}

// What handlers share, as far as they have committed it.
fn state_of(dir: &JobDir, crawler: &CrawlerId) -> Result<Map<String, Value>> {
    let job = JobSnapshot::open(dir, Some(crawler))?;
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
