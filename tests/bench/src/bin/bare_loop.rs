//! The yardstick: what a good engineer writes in an afternoon with the same libraries, without durability and without a
//! sandbox. One thread, 16 requests in flight, each page parsed once, a set of URLs in memory, JSON lines into a file.
//!
//! `bare_loop URL FILE` follows all links of the same host. Whatever goes wrong ends it: a yardstick has no retries.

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use nephila_bench::said;
use reqwest::Client;
use scraper::{Html, Selector};
use serde::Serialize;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use tokio::task::JoinSet;
use url::Url;

const IN_FLIGHT: usize = 16;

#[derive(Serialize)]
struct Item<'a> {
    url: &'a str,
    title: String,
    h1: String,
    price: String,
}

/// The selectors, compiled once.
struct Selectors {
    title: Selector,
    h1: Selector,
    price: Selector,
    link: Selector,
}

impl Selectors {
    fn new() -> Result<Self> {
        let compile = |text: &str| Selector::parse(text).map_err(|error| anyhow!("the selector {text}: {error}"));
        Ok(Self { title: compile("title")?, h1: compile("h1")?, price: compile(".price")?, link: compile("a[href]")? })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    said("bare_loop", crawl().await.map(|()| ExitCode::SUCCESS))
}

async fn crawl() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let start = Url::parse(&arguments.next().context("usage: bare_loop URL FILE")?)?;
    let file = arguments.next().context("usage: bare_loop URL FILE")?;
    let mut out = BufWriter::new(File::create(&file).with_context(|| format!("cannot create {file}"))?);

    // Fails if somebody was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build()?;
    let selectors = Selectors::new()?;
    let mut seen = HashSet::from([start.to_string()]);
    let mut waiting = VecDeque::from([start]);
    let mut fetches = JoinSet::new();
    loop {
        while fetches.len() < IN_FLIGHT
            && let Some(url) = waiting.pop_front()
        {
            fetches.spawn(fetch(client.clone(), url));
        }
        let Some(fetched) = fetches.join_next().await else { break };
        let (url, body) = fetched??;
        let html = Html::parse_document(&String::from_utf8_lossy(&body));
        let item = Item {
            url: url.as_str(),
            title: text(&html, &selectors.title),
            h1: text(&html, &selectors.h1),
            price: text(&html, &selectors.price),
        };
        serde_json::to_writer(&mut out, &item)?;
        out.write_all(b"\n")?;
        for element in html.select(&selectors.link) {
            let Some(mut link) = element.attr("href").and_then(|href| url.join(href).ok()) else { continue };
            if link.host_str() != url.host_str() {
                continue;
            }
            link.set_fragment(None);
            if !seen.contains(link.as_str()) {
                seen.insert(link.to_string());
                waiting.push_back(link);
            }
        }
    }
    out.flush()?;
    Ok(())
}

async fn fetch(client: Client, url: Url) -> Result<(Url, Bytes)> {
    let response = client.get(url.clone()).send().await?.error_for_status()?;
    Ok((url, response.bytes().await?))
}

/// The text of the first match, white space collapsed.
fn text(html: &Html, selector: &Selector) -> String {
    let mut collapsed = String::new();
    for word in html.select(selector).next().into_iter().flat_map(|element| element.text()).flat_map(str::split_whitespace) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}
