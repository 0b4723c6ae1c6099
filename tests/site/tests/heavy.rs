//! The heavy site as a crawler sees it.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::get;
use nephila_site::{Site, SiteConfig, Switches, heavy_facts, mesh_facts};
use scraper::{Html, Selector};
use std::collections::HashSet;
use url::Url;

const PAGES: usize = 160;

fn texts(document: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let text = |element: scraper::ElementRef<'_>| element.text().collect::<String>();
    document.select(&selector).map(|element| text(element).split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The links to the same host, by their path.
fn paths(document: &Html, base: &Url) -> Vec<String> {
    let selector = Selector::parse("a[href]").unwrap();
    let links = document.select(&selector).map(|element| base.join(element.attr("href").unwrap()).unwrap());
    links.filter(|link| link.host() == base.host() && link.port() == base.port()).map(|link| link.path().to_owned()).collect()
}

#[tokio::test]
async fn every_page_says_what_the_library_tells_and_has_150_links_to_others() {
    let site = Site::start(SiteConfig::heavy(PAGES)).await.unwrap();
    let base = Url::parse(&site.url()).unwrap();
    let facts = heavy_facts(PAGES, 1);
    let (mut seen, mut reached) = (HashSet::from(["/".to_owned()]), vec!["/".to_owned()]);
    while let Some(path) = reached.pop() {
        let reply = get(&site, &path).await;
        assert!(reply.status == 200 && reply.is_whole());
        let document = Html::parse_document(&reply.text());
        let page = facts.iter().find(|page| page.path == path).unwrap();
        assert_eq!(texts(&document, "head > title"), [page.title.as_str()]);
        assert_eq!(texts(&document, "h1"), [page.heading.as_str()]);
        assert_eq!(texts(&document, ".price"), [page.price.as_str()]);
        let links = paths(&document, &base);
        assert!(links.len() == 150 && !links.contains(&path));
        assert_eq!(links.iter().collect::<HashSet<_>>().len(), 150);
        reached.extend(links.into_iter().filter(|link| seen.insert(link.clone())));
    }
    assert_eq!(seen, facts.into_iter().map(|page| page.path).collect());
    assert_eq!(site.stats().requests, PAGES as u64);
    assert_eq!(get(&site, "/catalogue/no-such-thing/1").await.status, 404);
}

#[tokio::test]
async fn it_has_the_troubles_and_charsets_that_switches_ask_for() {
    let switches = Switches { fail_ratio: 0.3, charset_ratio: 0.5, ..Switches::default() };
    let site = Site::start(SiteConfig::heavy(30).with(switches)).await.unwrap();
    let plan = site.plan();
    for (page, facts) in plan.iter().zip(heavy_facts(30, 1)) {
        assert_eq!(page.url, facts.path);
        assert_eq!(get(&site, &page.url).await.status, if page.fails { 500 } else { 200 });
        let reply = get(&site, &page.url).await;
        let (text, ..) = encoding_rs::Encoding::for_label(page.charset.as_bytes()).unwrap().decode(&reply.body);
        assert_eq!(texts(&Html::parse_document(&text), "h1"), [facts.heading.as_str()]);
    }
    assert!(plan.iter().any(|page| page.fails) && plan.iter().any(|page| page.charset != "utf-8"));
}

#[tokio::test]
async fn a_mesh_says_what_the_library_tells() {
    let site = Site::start(SiteConfig::mesh(20, 3, 2_000)).await.unwrap();
    for page in mesh_facts(20, 1) {
        let document = Html::parse_document(&get(&site, &page.path).await.text());
        assert_eq!(texts(&document, "title"), [page.title.as_str()]);
        assert_eq!(texts(&document, "h1"), [page.heading.as_str()]);
        assert_eq!(texts(&document, ".price"), [page.price.as_str()]);
    }
}
