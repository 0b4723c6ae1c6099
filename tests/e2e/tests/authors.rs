//! What an author does: `new`, `run` from the source, `build`, a mistake, `--watch`. With the real tools of each language.
//!
//! A language whose tools are not here is skipped by name, as is one whose SDK is not in the program; where `CI` is set, that is a
//! failure. `NEPHILA_TOOLS` says where tools are that `nephila build --install` would otherwise put into the user's folder.

use anyhow::{Context, Result, bail, ensure};
use nephila_e2e::{Crawl, Ended, lines};
use nephila_site::{Site, SiteConfig};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// `nephila` with a cache of its own.
fn nephila(folder: &Path, arguments: &[&str]) -> Crawl {
    Crawl::new(folder, arguments).env("XDG_CACHE_HOME", &folder.join("cache").display().to_string())
}

fn run(crawl: &Crawl) -> Result<Ended> {
    tokio::task::block_in_place(|| crawl.run())
}

/// Whether a refusal is one of a machine that lacks something; said on both outputs, since the macros' words are kept back.
fn is_skipped(what: &str, ended: &Ended) -> Result<bool> {
    let lacks = ["looked for it in", "has no SDK for it"].iter().any(|words| ended.stderr.contains(words));
    if ended.code != Some(2) || !lacks {
        return Ok(false);
    }
    ensure!(std::env::var_os("CI").is_none(), "{what}: {}", ended.stderr);
    let line = format!("SKIPPED: {what} ({})", ended.stderr.lines().next().unwrap_or_default());
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "{line}")?;
    Ok(true)
}

async fn an_author_begins_in(language: &str, main: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let made = run(&nephila(folder.path(), &["new", "quotes", "--lang", language]))?;
    if is_skipped(language, &made)? {
        return Ok(());
    }
    made.expect_code(0)?;
    let project = folder.path().join("quotes");
    let site = Site::start(SiteConfig::files(project.join("fixtures"))).await?;
    let url = format!("{}/quotes.html", site.url().trim_end_matches('/'));
    let crawl = nephila(
        folder.path(),
        &["run", "./quotes", &url, "--delay", "0", "--max-depth", "0", "--store", "memory:", "--overwrite", "-o", "o.jsonl"],
    );

    // The first start builds, and the page gives what the fixture says.
    let first = run(&crawl)?;
    if is_skipped(language, &first)? {
        return Ok(());
    }
    assert!(first.expect_code(0)?.stderr.contains("building"), "the first start says what it does");
    let fixture: Value = serde_json::from_str(&fs::read_to_string(project.join("fixtures/quotes.json"))?)?;
    let items = || -> Result<Vec<Value>> {
        lines(&folder.path().join("o.jsonl"))?.iter().map(|line| Ok(serde_json::from_str(line)?)).collect()
    };
    assert_eq!(Value::from(items()?), fixture["expect"]["items"]);

    // The second starts no tool: there is none to be found.
    let second = run(&crawl.clone().env("PATH", "/nonexistent"))?.expect_code(0)?;
    assert!(!second.stderr.contains("building"), "{}", second.stderr);
    assert_eq!(Value::from(items()?), fixture["expect"]["items"]);

    // What the fixture says is what `check` finds, each time to the byte; and it finds what is wrong.
    let check = nephila(folder.path(), &["check", "./quotes", "--deterministic"]);
    let held = run(&check)?.expect_code(0)?;
    assert!(held.stdout.contains("ok     ./quotes/fixtures/quotes.json") && held.stdout.contains("fuel "), "{}", held.stdout);
    let expected = fs::read_to_string(project.join("fixtures/quotes.json"))?;
    fs::write(project.join("fixtures/quotes.json"), expected.replace("Steve Martin", "Steve Mertin"))?;
    let missed = run(&check)?.expect_code(1)?;
    let words = "items[1].author: expected \"Steve Mertin\", found \"Steve Martin\"";
    assert!(missed.stdout.contains(words) && missed.stdout.contains("0 of 1 fixture"), "{}", missed.stdout);
    fs::write(project.join("fixtures/quotes.json"), expected)?;

    // A build shows what the host thinks of it.
    let built = run(&nephila(&project, &["build"]))?.expect_code(0)?;
    for words in ["compatible with this host", "handler", "bytes"] {
        assert!(built.stdout.contains(words), "{words} in {}", built.stdout);
    }
    assert!(project.join("quotes.wasm").is_file());

    // A mistake is said with its place and the author's own line.
    let file = project.join(main);
    let wrong = if language == "python" { "def mistake(:" } else { "} mistake" };
    let good = fs::read_to_string(&file)?;
    fs::write(&file, format!("{good}\n{wrong}\n"))?;
    let refused = run(&crawl)?.expect_code(2)?;
    let place = format!("{main}:{}:", good.lines().count() + 2);
    assert!(refused.stderr.contains(&place) && refused.stderr.contains(wrong), "{place} in {}", refused.stderr);

    // What is there is not written over.
    let again = run(&nephila(folder.path(), &["new", "quotes", "--lang", language]))?.expect_code(2)?;
    assert!(again.stderr.contains("is there already"), "{}", again.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rust() -> Result<()> {
    an_author_begins_in("rust", "src/lib.rs").await
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript() -> Result<()> {
    an_author_begins_in("js", "crawler.js").await
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript() -> Result<()> {
    an_author_begins_in("ts", "crawler.ts").await
}

#[tokio::test(flavor = "multi_thread")]
async fn python() -> Result<()> {
    an_author_begins_in("python", "crawler.py").await
}

#[tokio::test(flavor = "multi_thread")]
async fn c() -> Result<()> {
    an_author_begins_in("c", "crawler.c").await
}

fn crawler(version: u32) -> String {
    format!(
        "import {{ defineCrawler }} from 'nephila';\n\
         export default defineCrawler({{\n\
         \x20 name: 'watched',\n\
         \x20 handle({{ pushData, enqueueLinks }}) {{\n\
         \x20   pushData({{ version: {version} }});\n\
         \x20   enqueueLinks();\n\
         \x20 }},\n\
         }});\n"
    )
}

/// Waits until it is so, for two minutes.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        if Instant::now() > deadline {
            bail!("{what} has not come about");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_saved_is_what_the_crawl_goes_on_with() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crawler.js");
    fs::write(&file, crawler(1))?;
    let probe = run(&nephila(folder.path(), &["inspect", "crawler.js"]))?;
    if is_skipped("--watch, which is tested in JavaScript", &probe)? {
        return Ok(());
    }
    probe.expect_code(0)?;
    let site = Site::start(SiteConfig::mesh(20_000, 20, 512)).await?;
    let url = site.url();
    let crawl =
        nephila(folder.path(), &["run", "crawler.js", &url, "--watch", "--delay", "0.05", "--store", "memory:", "-o", "o.jsonl"]);
    tokio::task::block_in_place(|| {
        let mut child = crawl.spawn()?;
        let (said, hear) = std::sync::mpsc::channel();
        let stderr = child.stderr.take().context("standard error")?;
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        let watched = || -> Result<()> {
            let has = |version: u32| {
                let text = fs::read_to_string(folder.path().join("o.jsonl")).unwrap_or_default();
                text.contains(&format!("{{\"version\":{version}}}"))
            };
            wait_until("an item of the first version", || has(1))?;
            fs::write(&file, "} broken\n")?;
            wait_until("word of the broken one", || hear.try_iter().any(|line| line.contains("goes on with the one before")))?;
            fs::write(&file, crawler(2))?;
            wait_until("an item of the second version", || has(2))
        };
        let result = watched();
        kill(Pid::from_raw(i32::try_from(child.id())?), Signal::SIGINT)?;
        let status = child.wait()?;
        drop(hear);
        let _ = reader.join();
        result?;
        assert_eq!(status.code(), Some(3), "it was stopped before the end");
        Ok(())
    })
}
