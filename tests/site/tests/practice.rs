//! The practice site as a crawler sees it.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{Reply, between, crawl, get, post, send};
use nephila_site::{Author, Quote, Running, Site, SiteConfig, Switches, authors, downloads, orders, quotes};
use scraper::{Html, Selector};
use serde_json::Value;
use std::collections::BTreeSet;

async fn practice() -> Running {
    Site::start(SiteConfig::practice()).await.unwrap()
}

fn texts(html: &str, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    Html::parse_document(html).select(&selector).map(|element| element.text().collect::<String>().trim().to_owned()).collect()
}

fn quotes_of(html: &str) -> Vec<Quote> {
    let quote = |element: scraper::ElementRef<'_>| Quote {
        text: texts(&element.html(), ".text").remove(0),
        author: texts(&element.html(), ".author").remove(0),
        tags: texts(&element.html(), ".tag"),
    };
    let selector = Selector::parse(".quote").unwrap();
    Html::parse_document(html).select(&selector).map(quote).collect()
}

/// The one `name=value` of a reply that sets a cookie.
fn cookie(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap().to_owned()
}

async fn get_as(site: &Running, cookies: &str, target: &str) -> Reply {
    send(site, "GET", "x", target, &format!("Cookie: {cookies}\r\n")).await
}

#[tokio::test]
async fn following_links_is_thirty_nine_pages_and_none_fails() {
    let site = practice().await;
    let replies = crawl(&site, &site.url()).await;
    // Ten of quotes; list without end, search, files, visitors and login; four files; twenty that say who asked.
    assert_eq!(replies.len(), 10 + 5 + 4 + 20);
    assert!(replies.values().all(|reply| reply.status == 200 && reply.is_whole()));
    assert!(!replies.keys().any(|url| url.path().starts_with("/account")));
}

#[tokio::test]
async fn the_same_hundred_quotes_are_on_pages_in_the_api_and_behind_the_form() {
    let site = practice().await;
    let (truth, mut on_pages, mut by_api) = (quotes(1), Vec::new(), Vec::new());
    for number in 1..=10 {
        let path = if number == 1 { "/".to_owned() } else { format!("/page/{number}/") };
        let html = get(&site, &path).await.text();
        assert_eq!(texts(&html, "li.next").len(), usize::from(number < 10));
        on_pages.extend(quotes_of(&html));
        let answer: Value = serde_json::from_slice(&get(&site, &format!("/api/quotes?page={number}")).await.body).unwrap();
        assert_eq!(answer["has_next"], number < 10);
        by_api.extend(serde_json::from_value::<Vec<Quote>>(answer["quotes"].clone()).unwrap());
    }
    assert_eq!(on_pages, truth);
    assert_eq!(by_api, truth);
    assert_eq!(get(&site, "/api/quotes").await.body, get(&site, "/api/quotes?page=1").await.body);
    assert_eq!(quotes_of(&get(&site, "/scroll").await.text()), []);

    let form = get(&site, "/search").await.text();
    let names = texts(&form, "option");
    assert_eq!(names, authors(1).iter().map(|author| author.name.clone()).collect::<Vec<_>>());
    for name in names {
        let encoded = name.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let found = post(&site, "/search", "", &format!("author={encoded}")).await;
        let by_author: Vec<Quote> = truth.iter().filter(|quote| quote.author == name).cloned().collect();
        assert_eq!(quotes_of(&found.text()), by_author);
    }
    for missing in ["/page/1/", "/page/11/", "/page/02/", "/api/quotes?page=0", "/api/quotes?page=11", "/api/quotes?page=x"] {
        assert_eq!(get(&site, missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn the_api_tells_of_each_author() {
    let site = practice().await;
    let list: Value = serde_json::from_slice(&get(&site, "/api/authors").await.body).unwrap();
    for (entry, truth) in list["authors"].as_array().unwrap().iter().zip(authors(1)) {
        let reply = get(&site, entry["url"].as_str().unwrap()).await;
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(serde_json::from_slice::<Author>(&reply.body).unwrap(), truth);
    }
    assert_eq!(get(&site, "/api/authors/21").await.status, 404);
}

#[tokio::test]
async fn a_login_takes_the_forms_own_token_the_password_and_then_two_cookies() {
    let site = practice().await;
    let form = get(&site, "/login").await;
    let visitor = cookie(&form);
    let token = between(&form.text(), "name=\"csrf_token\" value=\"", "\"")[0].to_owned();
    let fields = |token: &str, password: &str| format!("csrf_token={token}&username=reader&password={password}");
    let as_visitor = format!("Cookie: {visitor}\r\n");

    // Each of the three things can be wrong.
    assert_eq!(post(&site, "/login", "", &fields(&token, "practice")).await.status, 403, "another visitor's token");
    assert_eq!(post(&site, "/login", &as_visitor, &fields("0", "practice")).await.status, 403);
    let wrong = post(&site, "/login", &as_visitor, &fields(&token, "secret")).await;
    assert_eq!((wrong.status, texts(&wrong.text(), ".error").len()), (200, 1));
    assert_eq!(get_as(&site, &visitor, "/account/").await.status, 403);

    let right = post(&site, "/login", &as_visitor, &fields(&token, "practice")).await;
    assert_eq!((right.status, right.header("location")), (302, "/account/"));
    let login = cookie(&right);
    assert_eq!(get_as(&site, &login, "/account/").await.status, 403, "the login of another visitor");
    let both = format!("{visitor}; {login}");
    let account = get_as(&site, &both, "/account/").await.text();
    assert_eq!(texts(&account, ".orders a").len(), orders(1).len());
    for order in orders(1) {
        let path = format!("/account/orders/{}", order.number);
        let html = get_as(&site, &both, &path).await.text();
        assert_eq!((texts(&html, ".title"), texts(&html, ".total")), (vec![order.title.clone()], vec![order.total()]));
        assert_eq!(get_as(&site, &visitor, &path).await.status, 403);
    }
    assert_eq!(post(&site, "/account/", "", "").await.status, 405);
}

#[tokio::test]
async fn files_come_to_the_byte_with_their_types() {
    let site = practice().await;
    assert_eq!(texts(&get(&site, "/files/").await.text(), "a[download]").len(), downloads(1).len());
    for file in downloads(1) {
        let reply = get(&site, &format!("/files/{}", file.name)).await;
        assert_eq!((reply.header("content-type"), &reply.body), (file.content_type, &file.body));
    }
}

#[tokio::test]
async fn a_page_says_which_visitor_asked() {
    let site = practice().await;
    let who = |reply: &Reply| texts(&reply.text(), ".visitor").remove(0);
    let first = get(&site, "/visitors/1").await;
    let again = get_as(&site, &cookie(&first), "/visitors/2").await;
    let other = get(&site, "/visitors/1").await;
    assert_eq!((who(&first), who(&again), again.header("set-cookie")), (who(&again), "v1".to_owned(), ""));
    assert_eq!(who(&other), "v2");
    // A cookie can be anything.
    assert_eq!(who(&get_as(&site, "visitor=<b>me</b>", "/visitors/1").await), "<b>me</b>");
    let counted: BTreeSet<_> = site.gate().by_visitor.into_values().collect();
    assert_eq!(counted, BTreeSet::from([1, 2]));
}

#[tokio::test]
async fn it_has_the_troubles_that_switches_ask_for_and_another_seed_is_another_site() {
    let switches = Switches { seed: 7, fail_ratio: 1.0, redirect_ratio: 1.0, heal_after: 1, ..Switches::default() };
    let site = Site::start(SiteConfig::practice().with(switches)).await.unwrap();
    let plan = site.plan();
    assert_eq!(plan.len(), 13);
    assert!(plan[1..].iter().all(|page| page.fails && page.hops > 0) && !plan[0].fails);
    assert_eq!(quotes_of(&get(&site, "/").await.text()), quotes(7)[..10]);
    // What is not a page of its own always works.
    for path in ["/login", "/search", "/api/quotes?page=2", "/api/authors/1", "/files/quotes.csv", "/visitors/2"] {
        assert_eq!(get(&site, path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn visitors_are_blocked_when_that_is_asked_for() {
    let switches = Switches { visitors: true, block_every: Some(2), ..Switches::default() };
    let site = Site::start(SiteConfig::practice().with(switches)).await.unwrap();
    assert_eq!(get(&site, "/visitors/1").await.status, 200);
    assert_eq!(get(&site, "/visitors/2").await.status, 403);
    assert_eq!(site.gate().blocked, 1);
}
