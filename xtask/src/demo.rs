//! A crawl that anybody can watch: a bookshop of 1,000 books on this machine, and a check of everything that came back.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::{self, Profile};
use crate::folders::Folders;
use crate::process::output;
use crate::site::Site;

const BOOKS: u64 = 1_000;
const CATEGORIES: usize = 50;
/// One for each book, and 50 listings of 20 books.
const PAGES: u64 = 1_050;

/// Builds, crawls and checks.
pub(crate) fn run(folders: &Folders) -> Result<()> {
    build::run(folders, Profile::Release)?;

    let out = folders.target.join("demo");
    if out.exists() {
        std::fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    std::fs::create_dir_all(&out)?;
    let (file, job) = (out.join("books.jsonl"), out.join("job"));

    let site = Site::start(folders, &["bookshop"])?;
    println!("\na bookshop listens on {}; crawling it", site.url);
    let statistics = crawl(folders, &site.url, &file, &job)?;
    let seen = site.statistics()?;
    let items = read_items(&file)?;

    let mut checks = Checks::default();
    checks.check("requests finished", number(&statistics, "requestsFinished"), PAGES);
    checks.check("requests failed", number(&statistics, "requestsFailed"), 0);
    checks.check("books in the file", items.len() as u64, BOOKS);
    checks.check("items by the crawl's statistics", number(&statistics, "items"), BOOKS);
    checks.check("distinct UPCs", distinct(&items, "upc") as u64, BOOKS);
    checks.check("distinct URLs", distinct(&items, "url") as u64, BOOKS);
    checks.check("categories", distinct(&items, "category") as u64, CATEGORIES as u64);
    checks.check("pages that the site served", pages_served(&seen), PAGES);
    checks.result()?;

    let name = |path: &Path| folders.short(path);
    println!("\nthe books are in {}", name(&file));
    println!("next, see where the job stands:\n  {} status {}", name(&folders.program(Profile::Release, "nephila")), name(&job));
    println!("or crawl a site of your own choice; the shop to practise on:\n  cargo xtask site bookshop --port 8000");
    Ok(())
}

fn crawl(folders: &Folders, url: &str, file: &Path, job: &Path) -> Result<Value> {
    let mut command = Command::new(folders.program(Profile::Release, "nephila"));
    command.current_dir(&folders.root).arg("run").arg(folders.plugins().join("books.wasm")).arg(url);
    command.args(["--delay", "0", "--overwrite", "--json", "-o"]).arg(file).arg("--job").arg(job).stdin(Stdio::null());
    let statistics = output(&mut command)?;
    serde_json::from_str(&statistics).context("the crawl's statistics are no JSON")
}

fn read_items(file: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let item = |line| serde_json::from_str(line).with_context(|| format!("a line of {} is no JSON: {line}", file.display()));
    text.lines().map(item).collect()
}

fn number(statistics: &Value, name: &str) -> u64 {
    statistics[name].as_u64().unwrap_or(u64::MAX)
}

fn distinct(items: &[Value], field: &str) -> usize {
    items.iter().filter_map(|item| item[field].as_str()).collect::<BTreeSet<_>>().len()
}

/// Without what is asked for in order to ask politely, and without the statistics themselves.
fn pages_served(seen: &Value) -> u64 {
    let by_url = seen["byUrl"].as_object().into_iter().flatten();
    by_url.filter(|(path, _)| *path != "/robots.txt" && !path.starts_with("/_site/")).filter_map(|(_, n)| n.as_u64()).sum()
}

/// What was checked, in plain words.
#[derive(Debug, Default)]
struct Checks {
    wrong: Vec<String>,
}

impl Checks {
    fn check(&mut self, what: &str, found: u64, expected: u64) {
        let shown = if found == u64::MAX { "nothing".to_owned() } else { found.to_string() };
        if found == expected {
            println!("  ok     {what}: {shown}");
        } else {
            println!("  WRONG  {what}: {shown} instead of {expected}");
            self.wrong.push(what.to_owned());
        }
    }

    fn result(self) -> Result<()> {
        if !self.wrong.is_empty() {
            bail!("the demo found something wrong: {}", self.wrong.join(", "));
        }
        Ok(())
    }
}
