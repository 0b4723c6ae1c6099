//! Trouble, over the wire.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{crawl, follow, get, get_url, send};
use nephila_site::{Content, MeshShape, PagePlan, Running, Site, SiteConfig, Switches};
use std::collections::{HashMap, HashSet};
use url::Url;

async fn mesh(switches: Switches) -> Running {
    Site::start(SiteConfig::mesh(300, 3, 2_000).with(switches)).await.unwrap()
}

fn url(site: &Running, relative: &str) -> Url {
    Url::parse(&site.url()).unwrap().join(relative).unwrap()
}

#[tokio::test]
async fn the_whole_mesh_is_reached() {
    let site = mesh(Switches::default()).await;
    let replies = crawl(&site, &site.url()).await;
    assert_eq!(replies.len(), 300);
    assert!(replies.values().all(|reply| reply.status == 200 && reply.body.len() == 2_000));
    assert!(replies[&url(&site, "/p/7")].text().contains("<h1>Page 7</h1>"));
}

#[tokio::test]
async fn a_mesh_of_several_sites_is_reached_from_its_start_url() {
    let shape = MeshShape { pages: 100, links: 4, bytes: 0, sites: 3, halves: false };
    let site = Site::start(SiteConfig { content: Content::Mesh(shape), ..SiteConfig::bookshop() }).await.unwrap();
    let replies = crawl(&site, &site.start_url()).await;
    assert_eq!(replies.len(), 100);
    assert!(site.start_url().starts_with("http://s0.localhost:"));
    assert!(replies.keys().any(|url| url.host_str() == Some("s2.localhost") && url.path() == "/p/5"));
    let stats = site.stats();
    assert_eq!(stats.by_url["//s2.localhost/p/5"], 1);
    assert_eq!(stats.min_gap_millis.len(), 3);
}

#[tokio::test]
async fn failing_pages_heal_and_fail_again_after_a_reset() {
    let site =
        mesh(Switches { fail_ratio: 0.2, fail_status: 503, heal_after: 2, retry_after: Some(3), ..Switches::default() }).await;
    let plan = site.plan();
    let failing: Vec<&PagePlan> = plan.iter().filter(|page| page.fails).collect();
    assert!((30..90).contains(&failing.len()), "{}", failing.len());
    for page in failing.iter().take(5) {
        for expected in [503, 503, 200, 200] {
            let reply = get(&site, &page.url).await;
            assert_eq!(reply.status, expected);
            assert_eq!(reply.header("retry-after"), if expected == 503 { "3" } else { "" });
        }
    }
    site.reset();
    assert_eq!(get(&site, &failing[0].url).await.status, 503);
    let calm = plan.iter().find(|page| !page.fails).unwrap();
    assert_eq!(get(&site, &calm.url).await.status, 200);
}

#[tokio::test]
async fn broken_bodies_send_less_than_they_announce_until_they_heal() {
    let site = mesh(Switches { broken_ratio: 0.2, heal_after: 1, ..Switches::default() }).await;
    for page in site.plan().iter().filter(|page| page.breaks).take(5) {
        let broken = get(&site, &page.url).await;
        assert_eq!((broken.status, broken.header("content-length"), broken.body.len()), (200, "2000", 1_000));
        assert!(get(&site, &page.url).await.is_whole());
    }
}

#[tokio::test]
async fn redirects_end_at_the_page_and_no_two_at_the_same_url() {
    let site = mesh(Switches { redirect_ratio: 0.5, ..Switches::default() }).await;
    let (mut statuses, mut ends) = (HashSet::new(), HashSet::new());
    for page in site.plan() {
        let (end, seen, reply) = follow(&site, &url(&site, &page.url)).await;
        assert_eq!(end, url(&site, &page.final_url));
        assert_eq!(seen.len(), usize::from(page.hops) + 1);
        let id = page.url.strip_prefix("/p/").unwrap_or("0");
        assert!(reply.text().contains(&format!("<h1>Page {id}</h1>")));
        assert!(ends.insert(end));
        statuses.extend(seen);
    }
    assert_eq!(statuses, HashSet::from([200, 301, 302, 303, 307, 308]));
    assert_eq!(crawl(&site, &site.url()).await.len(), 300);
}

#[tokio::test]
async fn off_site_redirects_end_elsewhere_and_links_lead_back() {
    let site = mesh(Switches { redirect_ratio: 0.5, off_site_redirects: true, ..Switches::default() }).await;
    for page in site.plan().iter().filter(|page| page.hops > 0) {
        let (end, _, reply) = follow(&site, &url(&site, &page.url)).await;
        assert_eq!(end.as_str(), page.final_url);
        assert!(end.host_str().unwrap().starts_with("other-"), "{end}");
        assert_eq!(reply.status, 200);
    }
    let replies = crawl(&site, &site.url()).await;
    assert_eq!(replies.len(), 300);
    assert!(replies.keys().all(|url| url.host_str() == Some("127.0.0.1")));
}

#[tokio::test]
async fn converging_redirects_end_at_another_pages_own_url() {
    let switches = Switches { redirect_ratio: 0.4, converge_ratio: 0.5, ..Switches::default() };
    let site = Site::start(SiteConfig::bookshop().with(switches)).await.unwrap();
    let plan = site.plan();
    let stays: HashMap<&str, u8> = plan.iter().map(|page| (page.url.as_str(), page.hops)).collect();
    let converging: Vec<_> = plan.iter().filter(|page| page.converges).collect();
    assert!((130..270).contains(&converging.len()), "{}", converging.len());
    for page in converging.iter().take(20) {
        let (end, ..) = follow(&site, &url(&site, &page.url)).await;
        assert_eq!(end.path(), page.final_url);
        assert_eq!(stays[page.final_url.as_str()], 0);
    }
    assert!(plan[..50].iter().all(|page| page.hops == 0), "listings stay");
}

#[tokio::test]
async fn trouble_and_redirects_of_one_page_happen_one_after_the_other() {
    let site = mesh(Switches { fail_ratio: 1.0, heal_after: 1, redirect_ratio: 1.0, ..Switches::default() }).await;
    let (mut at_entry, mut at_end) = (0, 0);
    for page in site.plan().iter().skip(1) {
        let (end, statuses, _) = follow(&site, &url(&site, &page.url)).await;
        assert_eq!(statuses.last(), Some(&500));
        if end == url(&site, &page.url) {
            at_entry += 1
        } else {
            at_end += 1
        }
        assert_eq!(follow(&site, &url(&site, &page.url)).await.2.status, 200);
    }
    assert!(at_entry > 100 && at_end > 100);
}

#[tokio::test]
async fn a_meta_refresh_leads_to_the_page() {
    let site = mesh(Switches { meta_refresh_ratio: 0.3, ..Switches::default() }).await;
    let page = site.plan().into_iter().find(|page| page.meta_refresh).unwrap();
    let stub = get(&site, &page.url).await.text();
    assert!(stub.contains("content=\"0; url=?fresh=1\"") && !stub.contains("<h1>"));
    let fresh = get_url(&site, &url(&site, &page.url).join("?fresh=1").unwrap()).await;
    assert!(fresh.text().contains("<h1>Page "));
}

#[tokio::test]
async fn odd_charsets_decode_to_the_same_page() {
    let odd = mesh(Switches { charset_ratio: 0.9, ..Switches::default() }).await;
    let plain = mesh(Switches::default()).await;
    let mut charsets = HashSet::new();
    for page in odd.plan().iter().filter(|page| page.charset != "utf-8") {
        charsets.insert(page.charset.clone());
        let reply = get(&odd, &page.url).await;
        let (text, ..) = encoding_rs::Encoding::for_label(page.charset.as_bytes()).unwrap().decode(&reply.body);
        let declared = reply.header("content-type").to_lowercase().contains("charset=")
            || text.contains(&format!("<meta charset=\"{}\">", page.charset))
            || reply.body.starts_with(b"\xff\xfe")
            || reply.body.starts_with(b"\xfe\xff");
        assert!(declared, "{} of {}", reply.header("content-type"), page.url);
        let price = |text: &str| common::between(text, "class=\"price\">", "</p>")[0].replace("&#163;", "£");
        assert_eq!(price(&text), price(&get(&plain, &page.url).await.text()));
    }
    assert_eq!(charsets.len(), 6);
}

#[tokio::test]
async fn single_paths_can_be_given_a_status_or_made_slow() {
    let site = mesh(Switches {
        status: vec![("/p/1".to_owned(), 429), ("/".to_owned(), 204)],
        slow: vec![("/p/2".to_owned(), 300)],
        retry_after: Some(9),
        ..Switches::default()
    })
    .await;
    let refused = get(&site, "/p/1?x").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "9"));
    assert_eq!(get(&site, "/").await.status, 204);
    let start = std::time::Instant::now();
    assert_eq!(get(&site, "/p/2").await.status, 200);
    assert!(start.elapsed().as_millis() >= 300);
}

#[tokio::test]
async fn a_head_request_gets_the_head_of_the_page() {
    let site = mesh(Switches::default()).await;
    let reply = send(&site, "HEAD", "x", "/p/3", "").await;
    assert_eq!((reply.status, reply.header("content-length"), reply.body.len()), (200, "2000", 0));
}
