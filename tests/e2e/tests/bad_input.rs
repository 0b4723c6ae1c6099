//! Whatever a user can get wrong: one line with the cause and the way out, the right exit code, and nothing changed.

#[path = "../../../host/plugin/tests/loading/wrong.rs"]
mod wrong;

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, plugin, test_plugin};
use nephila_site::{Site, SiteConfig};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const URL: &str = "http://127.0.0.1:9/";

/// Runs, and checks: exit code 2, one line that has all these words, and no new entry in the folder.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) -> Result<()> {
    let before = entries(folder)?;
    let ended = Crawl::new(folder, arguments).run()?;
    anyhow::ensure!(ended.code == Some(2), "{arguments:?}: exit code {:?}; {}", ended.code, ended.stderr);
    let said: Vec<&str> = ended.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    anyhow::ensure!(said.len() == 1, "{arguments:?}: not one line: {}", ended.stderr);
    for word in words {
        anyhow::ensure!(said[0].contains(word), "{arguments:?}: `{word}` is not in: {}", said[0]);
    }
    anyhow::ensure!(entries(folder)? == before, "{arguments:?} changed the folder");
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<(String, u64, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            // SQLite's index over its log holds no data: whoever reads the log makes it anew. It must be there or not, as before.
            let is_index = path.extension().is_some_and(|extension| extension == "db-shm");
            let content = if path.is_file() && !is_index { fs::read(&path)? } else { Vec::new() };
            found.push((path.display().to_string(), content.len() as u64, content));
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn files_that_are_no_plugins() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let books = fs::read(plugin("books")?)?;
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).context("writing");
    write("empty.wasm", b"")?;
    write("text.wasm", b"#!/bin/sh\necho hello\n")?;
    write("truncated.wasm", &books[..books.len() / 2])?;
    write("core.wasm", b"\0asm\x01\0\0\0")?;
    write("version.wasm", b"\0asm\x63\0\0\0")?;
    write("no-handler.wasm", &wat::parse_str("(component)")?)?;
    write("unknown.wasm", &wat::parse_str("(component (import \"acme:db/sql@1.0.0\" (instance)))")?)?;
    write("http.wasm", &wat::parse_str("(component (import \"wasi:http/types@0.2.0\" (instance)))")?)?;
    let newer = "(component (import \"nephila:crawler/state@9.0.0\" (instance)))";
    write("newer.wasm", &wat::parse_str(newer)?)?;
    for (arguments, words) in [
        (["run", "no-handler.wasm", URL], ["no-handler.wasm", "handler"].as_slice()),
        (["run", "unknown.wasm", URL], &["acme:db/sql"]),
        (["run", "http.wasm", URL], &["wasi:http"]),
        (["run", "newer.wasm", URL], &["9.0.0", "0.1.0"]),
        (["run", "missing.wasm", URL], &["missing.wasm", "check the path"]),
        (["run", "no-such-name", URL], &["no-such-name", "nephila list"]),
        (["run", "empty.wasm", URL], &["empty.wasm", "empty"]),
        (["run", "text.wasm", URL], &["text.wasm", "not a WebAssembly"]),
        (["run", "truncated.wasm", URL], &["truncated.wasm"]),
        (["run", "core.wasm", URL], &["core.wasm", "component"]),
        (["run", "version.wasm", URL], &["version.wasm"]),
        (["run", ".", URL], &["."]),
    ] {
        refused(folder.path(), &arguments, words)?;
    }
    Ok(())
}

#[test]
fn inspect_says_of_every_wrong_plugin_what_is_wrong_and_what_to_do() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for wrong in wrong::all() {
        let path = wrong.write(folder.path()).display().to_string();
        refused(folder.path(), &["inspect", &path], wrong.words)?;
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[test]
fn inspect_shows_what_a_plugin_has_and_what_it_reaches_in_vain() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let reaching = wrong::with_entry_points(&[]).replacen(
        "(component",
        "(component (import \"wasi:sockets/instance-network@0.2.3\" (instance)) (import \"wasi:filesystem/preopens@0.2.3\" (instance))",
        1,
    );
    fs::write(folder.path().join("reaching.wasm"), wat::parse_str(reaching)?)?;
    let shown = Crawl::new(folder.path(), ["inspect", "reaching.wasm"]).run()?.expect_code(0)?.stdout;
    for line in [
        "verdict   compatible with this host",
        "exports   handler\n",
        "wasi:sockets@0.2.3: instance-network (refused when it is used)\n",
        "wasi:filesystem@0.2.3: preopens (refused when it is used)\n",
    ] {
        anyhow::ensure!(shown.contains(line), "`{line}` is not in: {shown}");
    }
    let fields = plugin("fields")?.display().to_string();
    let shown = Crawl::new(folder.path(), ["inspect", &fields]).run()?.expect_code(0)?.stdout;
    anyhow::ensure!(shown.contains("exports   manifest, pipeline\n"), "{shown}");
    Ok(())
}

#[test]
fn pipelines_and_listeners_that_are_none() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (books, fields) = (plugin("books")?.display().to_string(), plugin("fields")?.display().to_string());
    for (arguments, words) in [
        (vec!["run", &fields, URL], ["plugin fields handles no pages", "--pipeline"].as_slice()),
        (vec!["run", &books, URL, "--pipeline", &books], &["--pipeline", "plugin books has no pipeline", "manifest"]),
        (vec!["run", &books, URL, "--listener", &fields], &["--listener", "plugin fields has no listener", "manifest, pipeline"]),
        (vec!["run", &books, URL, "--pipeline", "missing.wasm"], &["missing.wasm", "check the path"]),
        (vec!["run", &books, URL, "--pipeline", &fields, "--pipeline", "no-such-name"], &["no-such-name", "nephila list"]),
    ] {
        refused(folder.path(), &arguments, words)?;
    }
    Ok(())
}

#[test]
fn urls_and_options_that_say_nothing_useful() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plugin = plugin("books")?.display().to_string();
    for (arguments, words) in [
        (vec!["run", &plugin, "example.com"], ["example.com", "https://"].as_slice()),
        (vec!["run", &plugin, "http://"], &["http://"]),
        (vec!["run", &plugin, "ftp://example.com/"], &["ftp", "http"]),
        (vec!["run", &plugin, URL, "--set", "no-such=1"], &["no-such", "docs/settings.md"]),
        (vec!["run", &plugin, URL, "--set", "max_retries=1"], &["did you mean `max-retries`"]),
        (vec!["run", &plugin, URL, "--set", "concurrency"], &["KEY=VALUE"]),
        (vec!["run", &plugin, URL, "--set", "JOBDIR=jobs"], &["Scrapy's JOBDIR is the option `--job DIR`; docs/settings.md"]),
        (vec!["run", &plugin, URL, "-n", "0"], &["max-items", "leave it out for no limit"]),
        (vec!["run", &plugin, URL, "--max-requests", "0"], &["max-requests", "leave it out for no limit"]),
        (vec!["run", &plugin, URL, "-c", "0"], &["concurrency", "from 1"]),
        (vec!["run", &plugin, URL, "--set", "min-concurrency=0"], &["min-concurrency", "from 1"]),
        (vec!["run", &plugin, URL, "--set", "min-concurrency=5", "-c", "4"], &["min-concurrency is 5", "(-c) only 4", "lower"]),
        (vec!["run", &plugin, URL, "--set", "min-concurrency=17"], &["min-concurrency is 17", "only 16"]),
        (vec!["run", &plugin, URL, "--delay", "soon"], &["delay", "seconds"]),
        (vec!["run", &plugin, URL, "--set", "request-timeout=0"], &["request-timeout", "leaves no time"]),
        (vec!["run", &plugin, URL, "--set", "shutdown-grace=40000d"], &["shutdown-grace", "hundred years"]),
        (vec!["run", &plugin, URL, "--input", "{oops"], &["--input", "JSON"]),
        (vec!["run", &plugin, URL, "--input", "@none.json"], &["none.json"]),
        (vec!["run", &plugin, URL, "--id", "a/b"], &["--id", "letters"]),
        (vec!["run", &plugin, URL, "--store", "mysql://x"], &["mysql", "sqlite:DIR"]),
        (vec!["run", &plugin, URL, "--resume"], &["no unfinished crawl"]),
        (vec!["run", &plugin, URL, "-o", "out.parquet"], &["out.parquet", ".jsonl"]),
        (vec!["run", &plugin, URL, "-o", "no/such/folder/out.jsonl"], &["no/such/folder"]),
        (vec!["run", &plugin, URL, "-o", "a.jsonl", "-o", "./a.jsonl"], &["a.jsonl"]),
        (vec!["status", "no-job"], &["no-job", "no job"]),
        (vec!["inspect", "missing.wasm"], &["missing.wasm"]),
        (vec!["list", "no-folder"], &["no-folder"]),
    ] {
        refused(folder.path(), &arguments, words)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn job_folders_that_cannot_be_used() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let (url, folder) = (site.url(), tempfile::tempdir()?);
    let books = plugin("books")?.display().to_string();
    let hostile = test_plugin("hostile")?.display().to_string();
    let at = |name: &str| folder.path().join(name);
    let run = ["run", &books, &url, "--delay", "0", "--max-requests", "3", "--job", "job", "-o", "out.jsonl"];
    tokio::task::block_in_place(|| Crawl::new(folder.path(), run).run())?.expect_code(0)?;

    // Another plugin's.
    tokio::task::block_in_place(|| {
        refused(folder.path(), &["run", &hostile, &url, "--job", "job"], &["made by the plugin `books`", "--job"])
    })?;
    // Others may write to it.
    fs::set_permissions(at("job"), fs::Permissions::from_mode(0o770))?;
    tokio::task::block_in_place(|| refused(folder.path(), &run, &["written by others", "chmod 700"]))?;
    fs::set_permissions(at("job"), fs::Permissions::from_mode(0o700))?;
    // Full of other things.
    fs::create_dir(at("photos"))?;
    fs::write(at("photos/cat.jpg"), b"meow")?;
    fs::set_permissions(at("photos"), fs::Permissions::from_mode(0o700))?;
    tokio::task::block_in_place(|| refused(folder.path(), &["run", &books, &url, "--job", "photos"], &["photos", "not a job"]))?;
    // A file.
    tokio::task::block_in_place(|| {
        refused(folder.path(), &["run", &books, &url, "--job", "photos/cat.jpg"], &["photos/cat.jpg"])
    })?;
    // Its output is somebody else's.
    fs::write(at("mine.jsonl"), b"{\"precious\":true}\n")?;
    let other = ["run", &books, &url, "--job", "new-job", "-o", "mine.jsonl"];
    tokio::task::block_in_place(|| refused(folder.path(), &other, &["mine.jsonl", "--overwrite", "--append"]))?;
    assert!(!at("new-job").exists());
    // Its output is the job itself, by another name.
    std::os::unix::fs::symlink("job/nephila.db", at("link.jsonl"))?;
    for option in ["--overwrite", "--append"] {
        let own = ["run", &books, &url, "--job", "job", "-o", "link.jsonl", option];
        tokio::task::block_in_place(|| refused(folder.path(), &own, &["link.jsonl", "a file of the job"]))?;
    }
    // Its own output was changed behind its back.
    fs::write(at("out.jsonl"), b"something else\n")?;
    let more = ["run", &books, &url, "--delay", "0", "--max-requests", "9", "--job", "job", "-o", "out.jsonl"];
    let ended = tokio::task::block_in_place(|| Crawl::new(folder.path(), more).run())?.expect_code(2)?;
    assert!(ended.stderr.contains("out.jsonl"), "{}", ended.stderr);
    assert_eq!(fs::read(at("out.jsonl"))?, b"something else\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_in_use_is_refused_and_its_owner_goes_on() -> Result<()> {
    let slow = nephila_site::Switches { latency_ms: 20, ..Default::default() };
    let site = Site::start(SiteConfig::bookshop().with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let books = plugin("books")?.display().to_string();
    let run = Crawl::new(folder.path(), ["run", &books, &site.url(), "--delay", "0", "--job", "job", "--json"]);
    let owner = run.spawn()?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while site.stats().requests < 5 && std::time::Instant::now() < deadline {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let second = tokio::task::block_in_place(|| run.run())?.expect_code(2)?;
    assert!(second.stderr.contains("in use by process"), "{}", second.stderr);
    let report = tokio::task::block_in_place(|| owner.wait_with_output()).map(nephila_e2e::Ended::of)?.expect_code(0)?.json()?;
    assert_eq!(report["requestsFinished"], 1_050);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_only_for_hosts_that_the_operator_named() -> Result<()> {
    let switches = nephila_site::Switches { redirect_ratio: 0.3, off_site_redirects: true, ..Default::default() };
    let site = Site::start(SiteConfig::bookshop().with(switches)).await?;
    let folder = tempfile::tempdir()?;
    let books = plugin("books")?.display().to_string();
    let run = ["run", &books, &site.url(), "--delay", "0", "--json", "--store", "memory:"];
    let report = tokio::task::block_in_place(|| Crawl::new(folder.path(), run).run())?.expect_code(0)?.json()?;
    let errors = report["errors"].as_array().context("errors")?;
    let refused = errors.iter().find(|error| error["code"] == "address-refused").context("address-refused")?;
    assert!(refused["message"].as_str().is_some_and(|message| message.contains("--allow-private")), "{refused}");
    assert_eq!(report["requestsFailed"], refused["count"]);
    assert!(site.stats().by_url.keys().all(|url| !url.starts_with("//other-")), "a refused host was asked");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_leaves_a_job_that_was_killed_as_it_was() -> Result<()> {
    let slow = nephila_site::Switches { latency_ms: 5, ..Default::default() };
    let site = Site::start(SiteConfig::bookshop().with(slow)).await?;
    let (url, folder) = (site.url(), tempfile::tempdir()?);
    let books = plugin("books")?.display().to_string();
    let hostile = test_plugin("hostile")?.display().to_string();
    let run = Crawl::new(folder.path(), ["run", &books, &url, "--delay", "0", "--job", "job"]);
    let mut child = run.spawn()?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while site.stats().requests < 60 && std::time::Instant::now() < deadline {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    child.kill()?;
    tokio::task::block_in_place(|| child.wait())?;
    fs::write(folder.path().join("mine.jsonl"), b"{}\n")?;

    tokio::task::block_in_place(|| {
        refused(folder.path(), &["run", &hostile, &url, "--job", "job"], &["made by the plugin `books`"])?;
        refused(folder.path(), &["run", &books, &url, "--job", "job", "-o", "mine.jsonl"], &["mine.jsonl", "--append"])
    })?;
    let report = Crawl::new(folder.path(), ["run", &books, &url, "--delay", "0", "--job", "job", "--json"]);
    let report = tokio::task::block_in_place(|| report.run())?.expect_code(0)?.json()?;
    assert_eq!((&report["requestsFinished"], &report["items"]), (&1_050.into(), &1_000.into()));
    Ok(())
}
