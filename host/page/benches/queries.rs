//! What queries of a page cost: `cargo bench -p nephila-page`.
//!
//! Each page is asked as it is, and with an element in front that keeps it from having a quick tree: then fields come from html5ever's tree
//! and links from a streaming pass.

#![allow(clippy::expect_used, reason = "a benchmark that fails is to say where")]

use nephila_model::{ContentType, Page, Timings};
use nephila_page::{Field, FieldKind, ParsedPage, SelectorCache, Watch, extract, links};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::Url;

fn main() {
    divan::main();
}

/// 5 kB with 20 links, 85 kB with 150.
const PAGES: [&str; 4] = ["small", "small, not tame", "real", "real, not tame"];

fn body(name: &str) -> String {
    let (small, tame) = (name.starts_with("small"), !name.ends_with("not tame"));
    let mut body = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Product &amp; page</title>\n",
    );
    if !tame {
        body.push_str("<template></template>");
    }
    if !small {
        body.push_str("<link rel=\"stylesheet\" href=\"/static/site.css\">\n<script>");
        (0..60).for_each(|n| writeln!(body, "var setting{n} = {{a: {n} < 3, b: 'some text of a script'}};").expect("a string"));
        body.push_str("</script>\n");
    }
    body.push_str("</head>\n<body class=\"page\">\n<h1>A product of some kind</h1>\n<p class=\"price\">12.50 &euro;</p>\n");
    let (links, words) = if small { (20, 12) } else { (150, 44) };
    for n in 0..links {
        write!(body, "<div class=\"card item-{n}\" id=\"card{n}\" data-index=\"{n}\">\n  <h3 class=\"title\"><a href=\"/catalogue/page-{n}.html?ref=list&amp;n={n}\" rel=\"nofollow\">Item number {n}</a></h3>\n  ").expect("a string");
        if !small {
            write!(body, "<img src=\"/images/{n}.jpg\" alt=\"A picture\" width=100 height=100>\n  <ul class=\"facts\"><li>One<li>Two &mdash; three<li><b>Four</b></ul>\n  ").expect("a string");
        }
        body.push_str("<p>");
        (0..words).for_each(|_| body.push_str("word "));
        body.push_str("</p>\n</div>\n");
    }
    body.push_str("</body>\n</html>\n");
    body
}

fn page(body: &str) -> ParsedPage {
    ParsedPage::new(Arc::new(Page {
        url: Url::parse("http://example.com/catalogue/index.html").expect("a URL"),
        status: 200,
        headers: Vec::new(),
        content_type: ContentType::parse("text/html"),
        body: body.to_owned().into(),
        charset: Some("UTF-8"),
        chain: Vec::new(),
        timings: Timings::default(),
        text: OnceLock::new(),
    }))
}

fn fields() -> [Field; 4] {
    let field = |name: &str, selector: &str, kind, many| Field { name: name.into(), selector: selector.into(), kind, many };
    [
        field("title", "title", FieldKind::Text, false),
        field("h1", "h1", FieldKind::Text, false),
        field("price", ".price", FieldKind::Text, false),
        field("items", "div.card > h3 a", FieldKind::Url("href".into()), true),
    ]
}

fn watch() -> Watch {
    Watch::new(Duration::from_secs(60), 16 << 20)
}

#[divan::bench(args = PAGES)]
fn fields_of_a_page(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (body, cache, fields) = (body(name), SelectorCache::new(), fields());
    bencher.with_inputs(|| page(&body)).bench_values(|page| {
        extract(&page, &fields, &cache, &watch()).expect("values");
        page
    });
}

#[divan::bench(args = PAGES)]
fn links_of_a_page(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (body, cache) = (body(name), SelectorCache::new());
    bencher.with_inputs(|| page(&body)).bench_values(|page| {
        links(&page, None, &cache, &watch()).expect("links");
        page
    });
}

#[divan::bench(args = PAGES)]
fn fields_and_links_of_a_page(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (body, cache, fields) = (body(name), SelectorCache::new(), fields());
    bencher.with_inputs(|| page(&body)).bench_values(|page| {
        extract(&page, &fields, &cache, &watch()).expect("values");
        links(&page, None, &cache, &watch()).expect("links");
        page
    });
}

/// What is left when the page is parsed already.
#[divan::bench(args = PAGES)]
fn fields_once_more(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (body, cache, fields) = (body(name), SelectorCache::new(), fields());
    let page = page(&body);
    bencher.bench_local(|| extract(&page, &fields, &cache, &watch()).expect("values"));
}
