//! Whether a run was right: each page asked for once, and its item written once, with every field as the site knows it.

use anyhow::{Context, Result, bail, ensure};
use nephila_site::{PageFacts, Stats};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

/// A line of the output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    url: String,
    title: String,
    h1: String,
    price: String,
}

/// Compares the items in a file with what the pages of the site at `base` say.
pub(crate) fn items(file: &Path, base: &str, facts: &[PageFacts]) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    compare(&text, base, facts).with_context(|| format!("{} is wrong", file.display()))
}

fn compare(text: &str, base: &str, facts: &[PageFacts]) -> Result<()> {
    ensure!(text.is_empty() || text.ends_with('\n'), "its last line is cut off");
    let mut expected: HashMap<String, &PageFacts> =
        facts.iter().map(|page| (format!("{}{}", base.trim_end_matches('/'), page.path), page)).collect();
    for line in text.lines() {
        let item: Item = serde_json::from_str(line).with_context(|| format!("this line is no item: {line}"))?;
        let page = expected.remove(&item.url).with_context(|| format!("{} stands twice, or is no page of the site", item.url))?;
        let (found, known) = ([&item.title, &item.h1, &item.price], [&page.title, &page.heading, &page.price]);
        ensure!(found == known, "{} says {known:?}, and the item {found:?}", item.url);
    }
    match expected.keys().min() {
        Some(url) => bail!("{} of {} pages are missing, for example {url}", expected.len(), facts.len()),
        None => Ok(()),
    }
}

/// Compares what the site was asked with its pages.
pub(crate) fn requests(stats: &Stats, facts: &[PageFacts]) -> Result<()> {
    let mut asked = stats.by_url.clone();
    // A polite crawler asks for it, and it is no page.
    asked.remove("/robots.txt");
    for page in facts {
        match asked.remove(&page.path) {
            Some(1) => {}
            times => bail!("{} was asked for {} times instead of once", page.path, times.unwrap_or(0)),
        }
    }
    match asked.keys().next() {
        Some(path) => bail!("{} paths were asked for that no page links to, for example {path}", asked.len()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{compare, requests};
    use nephila_site::{PageFacts, Stats, mesh_facts};

    const BASE: &str = "http://127.0.0.1:8000/";

    fn line(page: &PageFacts) -> String {
        let url = format!("{}{}", BASE.trim_end_matches('/'), page.path);
        serde_json::json!({ "url": url, "title": page.title, "h1": page.heading, "price": page.price }).to_string() + "\n"
    }

    fn error(text: &str) -> String {
        format!("{:#}", compare(text, BASE, &mesh_facts(5, 1)).unwrap_err())
    }

    #[test]
    fn the_items_of_all_pages_in_any_order_are_right() {
        let lines: String = mesh_facts(5, 1).iter().rev().map(line).collect();
        compare(&lines, BASE, &mesh_facts(5, 1)).unwrap();
    }

    #[test]
    fn any_deviation_is_found_and_named() {
        let lines: Vec<String> = mesh_facts(5, 1).iter().map(line).collect();
        let all = lines.concat();
        assert!(error(&lines[..4].concat()).contains("1 of 5 pages are missing, for example http://127.0.0.1:8000/p/4"));
        assert!(error(&format!("{all}{}", lines[2])).contains("/p/2 stands twice"));
        assert!(error(&all.replace("/p/3\"", "/p/33\"")).contains("/p/33 stands twice, or is no page"));
        assert!(error(&all.replace("\"title\":\"Page 3\"", "\"title\":\"Page\"")).contains("/p/3 says"));
        assert!(error(&all.replace("£", "")).contains("says"));
        assert!(error(all.trim_end()).contains("cut off"));
        assert!(error("{}\n").contains("no item"));
        assert!(error("").contains("5 of 5 pages are missing"));
    }

    #[test]
    fn every_page_is_asked_for_once() {
        let facts = mesh_facts(3, 1);
        let stats = |paths: &[(&str, u64)]| Stats {
            by_url: paths.iter().map(|(path, times)| ((*path).to_owned(), *times)).collect(),
            ..Stats::default()
        };
        let error = |paths: &[(&str, u64)]| requests(&stats(paths), &facts).unwrap_err().to_string();
        requests(&stats(&[("/", 1), ("/p/1", 1), ("/p/2", 1), ("/robots.txt", 1)]), &facts).unwrap();
        assert!(error(&[("/", 1), ("/p/1", 2), ("/p/2", 1)]).contains("/p/1 was asked for 2 times"));
        assert!(error(&[("/", 1), ("/p/1", 1)]).contains("/p/2 was asked for 0 times"));
        assert!(error(&[("/", 1), ("/p/1", 1), ("/p/2", 1), ("/p/9", 1)]).contains("for example /p/9"));
    }
}
