//! The bookshop as a crawler sees it.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{between, crawl, get, send};
use nephila_site::{Site, SiteConfig, Stats, Switches, books};
use std::collections::{BTreeMap, HashSet};

#[tokio::test]
async fn following_links_is_exactly_fifty_listings_and_a_thousand_books() {
    let site = Site::start(SiteConfig::bookshop()).await.unwrap();

    let replies = crawl(&site, &site.url()).await;

    assert_eq!(replies.len(), 1_050);
    assert!(replies.values().all(|reply| reply.status == 200 && reply.is_whole()));
    let details: Vec<String> =
        replies.iter().filter(|(url, _)| url.path().ends_with("/index.html")).map(|(_, reply)| reply.text()).collect();
    assert_eq!(details.len(), 1_000);
    let upcs: HashSet<&str> = details.iter().map(|text| between(text, "<th>UPC</th><td>", "</td>")[0]).collect();
    assert_eq!(upcs.len(), 1_000);
    assert!(upcs.iter().all(|upc| upc.len() == 16 && upc.bytes().all(|byte| byte.is_ascii_hexdigit())));
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &details {
        *categories.entry(between(text, "<li>Books</li><li>", "</li>")[0]).or_default() += 1;
    }
    assert_eq!(categories.len(), 50);
    assert!(categories.values().all(|count| *count == 20));

    let stats = site.stats();
    assert_eq!((stats.requests, stats.by_url.len()), (1_050, 1_050));
    assert!(stats.by_url.values().all(|count| *count == 1));
    site.stop().await;
}

#[tokio::test]
async fn a_page_shows_the_book_that_the_library_tells() {
    let site = Site::start(SiteConfig::bookshop()).await.unwrap();
    for book in books(1).iter().step_by(97) {
        let text = get(&site, &book.path).await.text().replace("&pound;", "£");
        assert_eq!(between(&text, "<p class=\"price_color\">", "</p>"), [book.price()]);
        assert!(text.contains(&format!("In stock ({} available)", book.available)));
        assert!(text.contains(&format!("star-rating {}", book.rating())));
        assert!(text.contains(&format!("<td>{}</td>", book.upc)));
        assert_eq!(between(&text, "<a href=\"", "\"").iter().filter(|href| **href != "/").count(), 0);
        let image = get(&site, &book.image()).await;
        assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
    }
}

#[tokio::test]
async fn the_start_page_has_three_paths_and_the_same_books() {
    let site = Site::start(SiteConfig::bookshop()).await.unwrap();
    let titles = |text: String| between(&text, "title=\"", "\"").iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
    let first = titles(get(&site, "/").await.text());
    assert_eq!(first.len(), 20);
    assert_eq!(titles(get(&site, "/index.html").await.text()), first);
    assert_eq!(titles(get(&site, "/catalogue/page-1.html").await.text()), first);
    assert_eq!(get(&site, "/catalogue/page-51.html").await.status, 404);
}

#[tokio::test]
async fn stats_count_by_url_and_host_and_can_be_reset() {
    let site = Site::start(SiteConfig::bookshop()).await.unwrap();
    get(&site, "/?a=b").await;
    get(&site, "/?a=b").await;
    send(&site, "GET", "Shop.localhost:1", "/", "").await;

    let stats: Stats = serde_json::from_slice(&get(&site, "/_site/stats").await.body).unwrap();
    assert_eq!(stats, site.stats());
    assert_eq!(stats.requests, 3);
    assert_eq!(stats.by_url, BTreeMap::from([("/?a=b".to_owned(), 2), ("//shop.localhost/".to_owned(), 1)]));
    assert_eq!(stats.min_gap_millis.keys().collect::<Vec<_>>(), ["127.0.0.1"]);

    assert_eq!(get(&site, "/_site/reset").await.status, 405);
    assert_eq!(send(&site, "POST", "x", "/_site/reset", "Content-Length: 0\r\n").await.status, 200);
    assert_eq!(site.stats(), Stats::default());
}

#[tokio::test]
async fn gzip_is_for_those_who_ask_when_it_is_on() {
    let on = Site::start(SiteConfig::bookshop().with(Switches { gzip: true, ..Switches::default() })).await.unwrap();
    let off = Site::start(SiteConfig::bookshop()).await.unwrap();
    let accept = "Accept-Encoding: br, GZIP;q=0.5\r\n";

    assert_eq!(send(&off, "GET", "x", "/", accept).await.header("content-encoding"), "");
    assert_eq!(send(&on, "GET", "x", "/", "Accept-Encoding: gzip;q=0\r\n").await.header("content-encoding"), "");
    let zipped = send(&on, "GET", "x", "/", accept).await;
    assert_eq!(zipped.header("content-encoding"), "gzip");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(zipped.body.as_slice()), &mut text).unwrap();
    assert_eq!(text, get(&off, "/").await.text());
}

#[tokio::test]
async fn a_taken_port_is_an_error_with_its_number() {
    let site = Site::start(SiteConfig::bookshop()).await.unwrap();
    let port = site.address().port();
    let error = Site::start(SiteConfig { port, ..SiteConfig::bookshop() }).await.err().unwrap();
    assert!(error.to_string().contains(&port.to_string()));
    site.stop().await;
    Site::start(SiteConfig { port, ..SiteConfig::bookshop() }).await.unwrap().stop().await;
}
