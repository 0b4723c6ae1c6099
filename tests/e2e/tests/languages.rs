//! The same crawler in every language: `plugins/books` and its siblings come to the same items, state and statistics.
//!
//! A language whose tools are not here is skipped by name; where `CI` is set, that is a failure.

use anyhow::{Context, Result, ensure};
use nephila_e2e::{Crawl, Ended, plugin, sorted_lines};
use nephila_site::{Site, SiteConfig, Switches};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What statistics have that no two runs agree in, or that says who ran.
const OF_THE_RUN: [&str; 26] = [
    "actorVersion",
    "cpuSeconds",
    "crawlId",
    "crawlerFinishedAt",
    "crawlerLastStartTimestamp",
    "crawlerRuntimeMillis",
    "crawlerStartedAt",
    "id",
    "job",
    "peakMemoryBytes",
    "plugin",
    "pluginDigest",
    "pluginVersion",
    "profileSeconds",
    "requestAvgAttemptDurationMillis",
    "requestAvgFailedDurationMillis",
    "requestAvgFinishedDurationMillis",
    "requestMaxDurationMillis",
    "requestMinDurationMillis",
    "requestTotalAttemptsDurationMillis",
    "requestTotalDurationMillis",
    "requestTotalFailedDurationMillis",
    "requestTotalFinishedDurationMillis",
    "requestsFailedPerMinute",
    "requestsFinishedPerMinute",
    "statsId",
];

/// What a crawl came to.
#[derive(Debug, PartialEq)]
struct Outcome {
    items: Vec<String>,
    state: Value,
    statistics: Map<String, Value>,
}

fn sources() -> Result<Vec<(&'static str, OsString)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let source = |name: &str| -> Result<OsString> {
        let path: PathBuf = folder.join(name).canonicalize().with_context(|| format!("plugins/{name}"))?;
        Ok(path.into_os_string())
    };
    Ok(vec![
        ("Rust", plugin("books")?.into_os_string()),
        ("JavaScript", source("books-js")?),
        ("TypeScript", source("books-ts")?),
        ("Python", source("books-python")?),
        ("C", source("books-c")?),
    ])
}

// Said on both outputs, since the macros' words are kept back.
fn is_skipped(language: &str, ended: &Ended) -> Result<bool> {
    if ended.code != Some(2) || !ended.stderr.contains("looked for it in") {
        return Ok(false);
    }
    ensure!(std::env::var_os("CI").is_none(), "{language}: {}", ended.stderr);
    let line = format!("SKIPPED: {language} ({})", ended.stderr.lines().next().unwrap_or_default());
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "{line}")?;
    Ok(true)
}

/// A language with one kind of numbers writes 48 where others write 48.0, which is the same number (RFC 8259, section 6).
fn numbers_by_value(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(list) => list.iter_mut().for_each(numbers_by_value),
        Value::Object(map) => map.values_mut().for_each(numbers_by_value),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn crawl(folder: &Path, language: &str, source: &OsString, url: &str) -> Result<Option<Outcome>> {
    let here = folder.join(language);
    std::fs::create_dir(&here)?;
    let cache = folder.join("cache").display().to_string();
    let run = Crawl::new(&here, ["run", "--delay", "0", "--json", "--job", "job", "-o", "books.jsonl", "--set", "retry-delay=0"])
        .with([source.as_os_str(), url.as_ref()])
        .env("XDG_CACHE_HOME", &cache);
    let ended = run.run()?;
    if is_skipped(language, &ended)? {
        return Ok(None);
    }
    let mut statistics = ended.expect_code(0)?.json()?.as_object().context("an object")?.clone();
    statistics.retain(|name, _| !OF_THE_RUN.contains(&name.as_str()));
    // Of each kind the sample is whichever came first.
    let of_name = |name| statistics.remove(name).and_then(|kinds| kinds.as_array().cloned()).unwrap_or_default();
    for error in ["errors", "retryErrors"].map(of_name).into_iter().flatten() {
        let count = statistics.entry(format!("errors of {}", error["code"])).or_insert_with(|| 0.into());
        *count = (count.as_u64().unwrap_or_default() + error["count"].as_u64().unwrap_or_default()).into();
    }
    let status = Crawl::new(&here, ["status", "job", "--state", "--json"]).run()?.expect_code(0)?.json()?;
    Ok(Some(Outcome { items: sorted_lines(&here.join("books.jsonl"))?, state: status["state"].clone(), statistics }))
}

#[tokio::test(flavor = "multi_thread")]
async fn all_languages_come_to_the_same_items_state_and_statistics() -> Result<()> {
    let switches = Switches { fail_ratio: 0.1, heal_after: 2, redirect_ratio: 0.1, ..Switches::default() };
    let folder = tempfile::tempdir()?;
    let mut first: Option<Outcome> = None;
    // Only the authority of the site could differ, so that all crawl the same one, which counts anew for each.
    for (language, source) in sources()? {
        let site = Site::start(SiteConfig::bookshop().with(switches.clone())).await?;
        let authority = site.url();
        let Some(mut outcome) = tokio::task::block_in_place(|| crawl(folder.path(), language, &source, &authority))? else {
            continue;
        };
        site.stop().await;
        for item in &mut outcome.items {
            let mut value = serde_json::from_str(&item.replace(&authority, "http://shop/"))?;
            numbers_by_value(&mut value);
            *item = value.to_string();
        }
        outcome.items.sort();
        match &first {
            None => {
                assert_eq!(outcome.state.as_object().map(Map::len), Some(50), "a count for each category: {}", outcome.state);
                first = Some(outcome);
            }
            Some(first) => {
                let differing = first.items.iter().zip(&outcome.items).find(|(one, other)| one != other);
                assert_eq!((differing, outcome.items.len()), (None, first.items.len()), "{language}");
                assert_eq!(outcome.state, first.state, "{language}");
                assert_eq!(outcome.statistics, first.statistics, "{language}");
            }
        }
    }
    Ok(())
}
