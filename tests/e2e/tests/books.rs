//! The example plugin over the whole bookshop: what the demo promises.

use anyhow::Result;
use nephila_e2e::{Crawl, lines, plugin};
use nephila_site::{Site, SiteConfig, Switches, books};
use serde_json::Value;
use std::collections::BTreeSet;

#[tokio::test(flavor = "multi_thread")]
async fn the_bookshop_is_crawled_whole_and_statistics_agree() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job", "-o", "books.jsonl"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);

    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;

    assert_eq!(report["status"], "SUCCEEDED");
    assert_eq!(report["requestsFinished"], 1_050);
    assert_eq!(report["requestsTotal"], 1_050);
    assert_eq!(report["items"], 1_000);
    assert_eq!(report["fetches"], site.stats().requests);
    assert_eq!(report["statusCodes"]["200"], 1_050);
    assert_eq!(report["retryHistogram"], serde_json::json!([1_050]));
    let items = lines(&folder.path().join("books.jsonl"))?
        .iter()
        .map(|line| Ok(serde_json::from_str::<Value>(line)?))
        .collect::<Result<Vec<_>>>()?;
    let distinct = |field: &str| items.iter().map(|item| item[field].to_string()).collect::<BTreeSet<_>>();
    assert_eq!((items.len(), distinct("upc").len(), distinct("category").len()), (1_000, 1_000, 50));
    let truth: BTreeSet<String> = books(Switches::default().seed).into_iter().map(|book| format!("{:?}", book.upc)).collect();
    assert_eq!(distinct("upc"), truth);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_old_charsets_give_the_same_items() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut outputs = Vec::new();
    for (name, switches) in
        [("plain", Switches::default()), ("charsets", Switches { charset_ratio: 0.5, gzip: true, ..Switches::default() })]
    {
        let site = Site::start(SiteConfig::bookshop().with(switches)).await?;
        let output = folder.path().join(format!("{name}.jsonl"));
        let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--store", "memory:", "-o"]).with([
            output.as_os_str(),
            plugin("books")?.as_os_str(),
            site.url().as_ref(),
        ]);
        tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
        let mut items: Vec<String> = lines(&output)?.into_iter().map(|line| line.replace(&site.url(), "/")).collect();
        items.sort();
        outputs.push(items);
        site.stop().await;
    }
    assert_eq!(outputs[0].len(), 1_000);
    assert_eq!(outputs[0], outputs[1]);
    Ok(())
}
