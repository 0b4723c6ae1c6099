//! One page through a plugin: `fetch`, `parse` and `check`.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, plugin, test_plugin};
use nephila_site::{Site, SiteConfig};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn nephila(folder: &Path, arguments: &[&str]) -> Result<Ended> {
    tokio::task::block_in_place(|| Crawl::new(folder, arguments).run())
}

fn books() -> Result<String> {
    Ok(plugin("books")?.to_str().context("a name")?.to_owned())
}

/// The page of the first book that a listing leads to.
fn a_book(folder: &Path, site: &str) -> Result<String> {
    let parsed = nephila(folder, &["parse", site, "--plugin", &books()?, "--json"])?.expect_code(0)?.json()?;
    let requests = parsed["requests"].as_array().context("requests")?;
    assert_eq!(requests.len(), 21);
    assert_eq!(
        (&requests[0]["label"], &requests[0]["priority"], &requests[0]["depth"]),
        (&json!("detail"), &json!(1), &json!(1))
    );
    Ok(requests[0]["url"].as_str().context("a URL")?.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_saved_and_what_a_plugin_makes_of_it_is_checked_without_the_site() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    let (here, books) = (folder.path(), books()?);
    let url = a_book(here, &site.url())?;
    nephila(here, &["fetch", &url, "--save", "fixtures/book.json"])?.expect_code(0)?;
    let again = nephila(here, &["fetch", &url, "--save", "fixtures/book.json"])?.expect_code(2)?;
    assert!(again.stderr.contains("--overwrite"), "{}", again.stderr);
    fs::write(here.join("mine.html"), "mine")?;
    let in_the_way = nephila(here, &["fetch", &url, "--save", "mine.json"])?.expect_code(2)?;
    assert!(in_the_way.stderr.contains("mine.html exists"), "{}", in_the_way.stderr);
    assert_eq!((fs::read_to_string(here.join("mine.html"))?.as_str(), here.join("mine.json").exists()), ("mine", false));
    site.stop().await;

    // Without a label the page is taken for a listing; with it, it is a book.
    let file = here.join("fixtures/book.json");
    let mut fixture: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    fixture["request"] = json!({ "label": "detail" });
    fixture["state"] = json!({ "unrelated": true });
    fs::write(&file, fixture.to_string())?;
    let unsaid = nephila(here, &["check", &books, "fixtures"])?.expect_code(0)?;
    assert!(unsaid.stdout.contains("expects nothing") && unsaid.stdout.contains("1 item, 0 requests"), "{}", unsaid.stdout);
    let updated = nephila(here, &["check", &books, "fixtures", "--update"])?.expect_code(0)?;
    assert!(updated.stdout.contains("updated"), "{}", updated.stdout);
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let expect = &kept["expect"];
    assert!(expect["items"][0]["upc"].is_string() && expect["requests"] == json!([]), "{kept}");
    assert_eq!(expect["state"].as_object().map(|state| state.values().cloned().collect::<Vec<_>>()), Some(vec![json!(1)]));
    nephila(here, &["check", &books, "fixtures", "--deterministic"])?.expect_code(0)?;

    // Contracts, as Scrapy has them.
    let mut fixture = kept.clone();
    fixture["expect"] = json!({ "itemCount": { "min": 1, "max": 1 }, "scrapes": ["upc", "title"], "requestCount": 0 });
    fs::write(&file, fixture.to_string())?;
    nephila(here, &["check", &books, "fixtures/book.json"])?.expect_code(0)?;
    fixture["expect"] = json!({ "itemCount": { "min": 2 }, "scrapes": ["isbn"], "requestCount": 3, "error": { "code": "x" } });
    fs::write(&file, fixture.to_string())?;
    let missed = nephila(here, &["check", &books, "fixtures/book.json", "--json"])?.expect_code(1)?.json()?;
    let problems = missed["problems"].as_array().context("problems")?.iter().filter_map(Value::as_str).collect::<Vec<_>>();
    assert_eq!(
        problems,
        [
            "error: it was to fail, and did not",
            "itemCount: expected 2 at least, found 1",
            "scrapes: 1 of 1 items have no \"isbn\"",
            "requestCount: expected 3 at least, found 0",
        ]
    );
    assert!(missed["fuel"].as_u64() > Some(1_000) && missed["memoryBytes"].as_u64() > Some(1_000), "{missed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_fixture_is_said_with_its_name() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (here, books) = (folder.path(), books()?);
    let check = |wanted: &str| -> Result<()> {
        let ended = nephila(here, &["check", &books, "fixtures"])?.expect_code(2)?;
        assert!(ended.stderr.contains(wanted), "{wanted:?} in {}", ended.stderr);
        Ok(())
    };
    check("nephila fetch URL --save fixtures/page.json")?;
    fs::create_dir(here.join("fixtures"))?;
    check("has no fixtures")?;
    let file = here.join("fixtures/a.json");
    for (text, wanted) in [
        ("", "a.json is not a fixture: EOF"),
        ("{\"url\": \"http://a/\", \"expct\": {}}", "unknown field `expct`"),
        ("{\"url\": \"http://a/\", \"expect\": {\"item\": []}}", "unknown field `item`"),
        ("{\"url\": \"a\"}", "not a URL"),
        ("{\"url\": \"http://a/\"}", "has no page"),
        ("{\"url\": \"http://a/\", \"page\": \"nothing.html\"}", "nothing.html cannot be read"),
        ("{\"url\": \"http://a/\", \"page\": \"/dev/zero\"}", "it is not a file"),
        ("{\"url\": \"http://a/\", \"call\": \"finish\"}", "no entry point for `finish`"),
        ("{\"url\": \"http://a/\", \"call\": \"failure\"}", "needs a \"failure\""),
    ] {
        fs::write(&file, text)?;
        check(wanted)?;
    }
    fs::write(here.join("fixtures/a.html"), "")?;
    fs::write(here.join("fixtures/a.xml"), "")?;
    fs::write(&file, "{\"url\": \"http://a/\"}")?;
    check("may both be it")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_fails_is_shown_as_it_fails() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let here = folder.path();
    let hostile = test_plugin("hostile")?.to_str().context("a name")?.to_owned();
    fs::create_dir(here.join("fixtures"))?;
    fs::write(here.join("fixtures/a.html"), "<p>hello</p>")?;
    let fixture = |label: &str, expect: Value| {
        json!({ "url": format!("http://site/page?do={label}"), "expect": expect, "request": { "label": label } }).to_string()
    };
    fs::write(here.join("fixtures/a.json"), fixture("trap", json!({})))?;
    let failed = nephila(here, &["check", &hostile, "fixtures"])?.expect_code(1)?;
    assert!(failed.stdout.contains("error: it failed (trap)"), "{}", failed.stdout);
    // What fails is not taken for what is meant.
    let kept = fs::read_to_string(here.join("fixtures/a.json"))?;
    let updated = nephila(here, &["check", &hostile, "fixtures", "--update"])?.expect_code(1)?;
    assert!(updated.stdout.contains("an error is not written down"), "{}", updated.stdout);
    assert_eq!(fs::read_to_string(here.join("fixtures/a.json"))?, kept);
    let swapped = nephila(here, &["check", "fixtures/a.json"])?.expect_code(2)?;
    assert!(swapped.stderr.contains("the plugin comes first"), "{}", swapped.stderr);
    fs::write(here.join("fixtures/a.json"), fixture("trap", json!({ "error": { "code": "trap", "ending": "fatal" } })))?;
    nephila(here, &["check", &hostile, "fixtures"])?.expect_code(0)?;

    let site = Site::start(SiteConfig::files(here.join("fixtures"))).await?;
    let gone = format!("{}nothing.html", site.url());
    let shown = nephila(here, &["fetch", &gone])?.expect_code(0)?;
    assert!(shown.stdout.starts_with("404 "), "{}", shown.stdout);
    let parsed = nephila(here, &["parse", &gone, "--plugin", &hostile])?.expect_code(1)?;
    assert!(parsed.stderr.contains("status 404"), "{}", parsed.stderr);
    let none = nephila(here, &["fetch", "http://127.0.0.1:1/"])?.expect_code(1)?;
    assert!(none.stderr.contains("127.0.0.1"), "{}", none.stderr);
    Ok(())
}
