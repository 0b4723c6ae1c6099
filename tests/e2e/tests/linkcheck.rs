//! The link checker, over a small site with one link of every kind and over the Rust documentation.

use anyhow::{Context, Result, ensure};
use nephila_e2e::reach::{Answer, Scope, reach};
use nephila_e2e::{Crawl, lines, plugin};
use nephila_site::{Site, SiteConfig};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

/// `std` and the books of the Rust documentation. What they link to beyond (`core`, `alloc`, `src`) is not followed.
const BOOKS: [&str; 14] = [
    "/std/",
    "/book/",
    "/cargo/",
    "/clippy/",
    "/edition-guide/",
    "/embedded-book/",
    "/error_codes/",
    "/nomicon/",
    "/reference/",
    "/rust-by-example/",
    "/rustc/",
    "/rustdoc/",
    "/style-guide/",
    "/unstable-book/",
];

/// Front pages that no other page links to.
const TRANSLATIONS: [&str; 4] = [
    "rust-by-example/es/index.html",
    "rust-by-example/ja/index.html",
    "rust-by-example/ko/index.html",
    "rust-by-example/zh/index.html",
];

/// A crawl by the link checker: the rows that it has written, and its report.
fn check(folder: &Path, input: &Value, starts: &[Url]) -> Result<(Vec<Value>, Value)> {
    let run = Crawl::new(folder, ["run", "--delay", "0", "--json", "--allow-private", "--set", "retry-delay=20ms"])
        .with(["--job", "job", "-o", "rows.jsonl", "--input", &input.to_string()])
        .with([plugin("linkcheck")?])
        .with(starts.iter().map(Url::as_str));
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    let rows = lines(&folder.join("rows.jsonl"))?.iter().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<_>>()?;
    Ok((rows, report))
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_broken_link_is_reported_and_nothing_else() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let other = OtherSite::start().await?;
    let root = folder.path().join("site");
    write_small_site(&root, &other.url)?;
    let site = Site::start(SiteConfig::files(&root)).await?;
    let start: Url = site.url().parse()?;
    let input = json!({
        "external": true,
        "assets": true,
        "listPages": true,
        "excludeLinks": ["*/excluded.html"],
        "excludeFragments": ["#<number>-<number>"],
    });

    let (rows, _) = check(folder.path(), &input, std::slice::from_ref(&start))?;

    let (pages, problems): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(|row| row["kind"] == "page");
    let pages: BTreeSet<String> = pages.iter().map(|row| text(row, "url").replace(start.as_str(), "/")).collect();
    let expected = ["/", "/file.txt", "/page.html", "/second.html", "/sub/"];
    assert_eq!(pages, expected.map(str::to_owned).into());

    let problems: BTreeSet<String> = problems
        .iter()
        .map(|row| {
            let url = text(row, "url").replace(start.as_str(), "/").replace(&other.url, "other:/");
            let pages: Vec<String> = row["pages"].as_array().into_iter().flatten().map(|page| page.to_string()).collect();
            let pages = pages.join(" ").replace(start.as_str(), "/").replace('"', "");
            format!("{} {url} {} {} on {pages} ({})", text(row, "kind"), text(row, "reason"), row["status"], row["pageCount"])
        })
        .collect();
    let expected = [
        "broken-link /missing.html status 404 on / /second.html (2)",
        "broken-link /missing.png status 404 on / (1)",
        "broken-link /round-1.html too-many-redirects 200 on / (1)",
        "broken-link http://closed.localhost:1/ connect null on / (1)",
        "broken-link other://gone status 404 on / (1)",
        "missing-fragment /#nowhere no-such-id null on / (1)",
        "missing-fragment /page.html#gone no-such-id null on / /second.html (2)",
        "missing-fragment /stub.html#gone no-such-id null on / (1)",
        "missing-fragment /sub#outside no-such-id null on / (1)",
    ];
    assert_eq!(problems, expected.map(str::to_owned).into());

    let asked = other.asked();
    for (first, then) in [("HEAD /fine", None), ("HEAD /get-only", Some("GET /get-only")), ("HEAD /gone", Some("GET /gone"))] {
        let path = first.trim_start_matches("HEAD ");
        let found: Vec<&str> = asked.iter().map(String::as_str).filter(|line| line.ends_with(path)).collect();
        assert_eq!(found, [Some(first), then].into_iter().flatten().collect::<Vec<_>>());
    }
    assert_eq!(site.stats().by_url.get("/excluded.html"), None);
    Ok(())
}

fn write_small_site(root: &Path, other: &str) -> Result<()> {
    std::fs::create_dir_all(root.join("sub"))?;
    let refresh = |to: &str| format!("<meta http-equiv=refresh content='0; url={to}'>");
    let files = [
        (
            "index.html",
            format!(
                "<link rel=stylesheet href=style.css><img src=missing.png><h1 id=here>x</h1>
                <a href='#here'>x</a> <a href='#'>x</a> <a href='#top'>x</a> <a href='#:~:text=x'>x</a> <a href='#nowhere'>broken</a>
                <a href=page.html>x</a> <a href=page.html#part>x</a> <a href=page.html#old>x</a> <a href='page.html#grün'>x</a>
                <a href=page.html#gone>broken</a> <a href=page.html#12-20>excluded</a> <a href=excluded.html>excluded</a>
                <a href=sub#inside>x</a> <a href=sub#outside>broken</a>
                <a href=stub.html#part>x</a> <a href=stub.html#gone>broken</a> <a href=round-1.html>broken</a>
                <a href=missing.html#x>broken</a> <a href=missing.html#y>broken</a>
                <a href=file.txt#anything>x</a> <map><area href=second.html></map> <a href='mailto:a@b'>x</a>
                <a href='{other}/fine#anything'>x</a> <a href='{other}/get-only'>x</a> <a href='{other}/gone'>broken</a>
                <a href='http://closed.localhost:1/'>broken</a>"
            ),
        ),
        ("page.html", "<h1 id=part>x</h1><a name=old>x</a><p id='grün'>x</p>".to_owned()),
        ("second.html", "<a href=missing.html>broken</a> <a href=page.html#gone>broken</a> <a href='/?'>x</a>".to_owned()),
        ("sub/index.html", "<p id=inside>x</p>".to_owned()),
        ("stub.html", refresh("page.html")),
        ("round-1.html", refresh("round-2.html")),
        ("round-2.html", refresh("round-1.html")),
        ("style.css", "p { color: red }".to_owned()),
        ("file.txt", "<a href=not-a-link.html>".to_owned()),
    ];
    for (name, content) in files {
        std::fs::write(root.join(name), content)?;
    }
    Ok(())
}

/// A server under another name that refuses HEAD for some paths.
struct OtherSite {
    url: String,
    asked: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl OtherSite {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://other.localhost:{}", listener.local_addr()?.port());
        let asked = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
        let log = std::sync::Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") && matches!(socket.read_buf(&mut request).await, Ok(1..)) {}
                let request = String::from_utf8_lossy(&request);
                let line = request.split(" HTTP/").next().unwrap_or_default().to_owned();
                let status = match line.as_str() {
                    "HEAD /fine" | "GET /get-only" => "200 OK",
                    "HEAD /get-only" => "405 Method Not Allowed",
                    _ => "404 Not Found",
                };
                if let Ok(mut log) = log.lock() {
                    log.push(line);
                }
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                // Whoever went away does not read it.
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        Ok(Self { url, asked })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().map(|asked| asked.clone()).unwrap_or_default()
    }
}

/// Where the crawl starts: the front page of each book and of each of its translations, and every stub, since most of those
/// are there for links from outside.
fn starts(documentation: &Path, base: &Url) -> Result<Vec<Url>> {
    let mut files: Vec<PathBuf> = TRANSLATIONS.iter().map(|path| documentation.join(path)).collect();
    for book in BOOKS {
        let book = documentation.join(book.trim_matches('/'));
        files.push(book.join("index.html"));
        let mut folders = vec![book];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "html") && is_stub(&path)? {
                    files.push(path);
                }
            }
        }
    }
    files.sort();
    files.dedup();
    let url = |file: &PathBuf| {
        let mut url = base.clone();
        let names = file.strip_prefix(documentation)?.iter().map(|name| name.to_string_lossy());
        url.path_segments_mut().map_err(|()| anyhow::anyhow!("no path"))?.pop_if_empty().extend(names);
        Ok(url)
    };
    files.iter().map(url).collect()
}

/// Stubs are small; what looks like one and is none does no harm. Those that lead to the Internet are left out.
fn is_stub(file: &Path) -> Result<bool> {
    if file.metadata()?.len() > 8_192 {
        return Ok(false);
    }
    let text = std::fs::read_to_string(file)?.to_lowercase();
    Ok(text.contains("http-equiv=\"refresh\"") && !text.contains("url=http"))
}

/// The documentation that comes with the toolchain.
fn rust_documentation() -> Result<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().context("running rustc")?;
    let folder = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("share/doc/rust/html");
    ensure!(
        folder.join("std/index.html").is_file(),
        "{} has no std; `rustup component add rust-docs` installs it",
        folder.display()
    );
    Ok(folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn linkcheck_over_the_rust_documentation() -> Result<()> {
    let documentation = match rust_documentation() {
        Ok(folder) => folder,
        // Machines of the CI have a whole toolchain, so that there it may not be left out.
        Err(cause) if std::env::var_os("CI").is_some() => return Err(cause),
        Err(cause) => {
            let line = format!("SKIPPED: linkcheck_over_the_rust_documentation ({cause:#})");
            // Not by the macros: what they print is kept back when a test passes.
            writeln!(std::io::stdout(), "{line}")?;
            writeln!(std::io::stderr(), "{line}")?;
            return Ok(());
        }
    };
    let folder = tempfile::tempdir()?;
    let site = Site::start(SiteConfig::files(&documentation)).await?;
    let base: Url = site.url().parse()?;
    let starts = starts(&documentation, &base)?;

    let scope = Scope::of(&starts, &BOOKS)?;
    let began = std::time::Instant::now();
    let expected = reach(&starts, &scope).await?;
    let is_line = |fragment: &str| !fragment.is_empty() && fragment.split('-').all(|part| part.parse::<u32>().is_ok());
    let truth = expected.problems(&scope, is_line)?;
    println!(
        "independent: {} starts, {} URLs, {} final, {} pages with {} links, {} refreshes, {} problems, {:.1} s",
        starts.len(),
        expected.answers.len(),
        expected.finals().len(),
        expected.pages.len(),
        expected.pages.values().map(|facts| facts.links.len()).sum::<usize>(),
        expected.refreshes,
        truth.len(),
        began.elapsed().as_secs_f64(),
    );
    for (url, answer) in &expected.answers {
        assert_eq!(exists(&documentation, url)?, !matches!(answer, Answer::Status(_)), "{url}: {answer:?}");
    }

    let input = json!({ "paths": BOOKS, "listPages": true, "excludeFragments": ["#<number>", "#<number>-<number>"] });
    let began = std::time::Instant::now();
    let (rows, report) = check(folder.path(), &input, &starts)?;
    println!("linkcheck: {} rows, {:.1} s", rows.len(), began.elapsed().as_secs_f64());
    println!("{report}");

    let (pages, problems): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(|row| row["kind"] == "page");
    let finals: BTreeSet<String> = pages.iter().map(|row| text(row, "url").to_owned()).collect();
    assert_eq!(pages.len(), finals.len(), "a page stands twice in the output");
    same("final URLs", &finals, &expected.finals())?;
    let found: BTreeMap<String, u64> =
        problems.iter().map(|row| (text(row, "url").to_owned(), row["pageCount"].as_u64().unwrap_or_default())).collect();
    same("problems", &found.keys().cloned().collect(), &truth.keys().cloned().collect())?;
    for row in &problems {
        let holders = &truth[text(row, "url")];
        assert_eq!(row["pageCount"], holders.len(), "{row}");
        let first: Vec<&String> = holders.iter().take(10).collect();
        assert_eq!(row["pages"], json!(first), "{row}");
    }
    Ok(())
}

/// Whether the file of a URL is on the disk.
fn exists(root: &Path, url: &str) -> Result<bool> {
    let url = Url::parse(url)?;
    let segments = url.path_segments().context("no path")?;
    let decoded = segments.map(|name| {
        url::form_urlencoded::parse(name.replace('+', "%2B").replace('=', "%3D").as_bytes())
            .next()
            .map(|(name, _)| name.into_owned())
    });
    let path = decoded.flatten().fold(root.to_owned(), |path, name| path.join(name));
    Ok(path.is_file() || path.join("index.html").is_file())
}

fn same(what: &str, found: &BTreeSet<String>, expected: &BTreeSet<String>) -> Result<()> {
    let missing: Vec<_> = expected.difference(found).take(10).collect();
    let extra: Vec<_> = found.difference(expected).take(10).collect();
    ensure!(
        missing.is_empty() && extra.is_empty(),
        "{what}: {} instead of {}; missing: {missing:#?}; extra: {extra:#?}",
        found.len(),
        expected.len()
    );
    Ok(())
}
