//! Plugins that were built for a released contract load and work for ever: `tests/released` has one in each language, as it was then.

use anyhow::{Context, Result, ensure};
use nephila_e2e::Crawl;
use nephila_site::{Site, SiteConfig};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn releases() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../released");
    let mut found: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("{}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    Ok(found)
}

/// Runs the binaries of a release over a page of a book, and gives what each makes of it.
fn parsed(release: &Path, folder: &Path, page: &str) -> Result<Vec<(String, Value)>> {
    let mut outcomes = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(release)?.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str()).context("a name")?.to_owned();
        let component = folder.join(&name);
        fs::write(&component, zstd::decode_all(fs::File::open(&file)?)?)?;
        let component = component.to_str().context("a path")?;
        let inspected = Crawl::new(folder, ["inspect", component]).run()?.expect_code(0)?;
        ensure!(inspected.stdout.contains("compatible with this host"), "{name}: {}", inspected.stdout);
        let shown = ["parse", page, "--plugin", component, "--label", "detail", "--json"];
        outcomes.push((name, Crawl::new(folder, shown).run()?.expect_code(0)?.json()?));
    }
    Ok(outcomes)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_of_each_language_does_what_it_did() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let releases = releases()?;
    assert!(!releases.is_empty());
    let page = format!("{}catalogue/shadow-faithful_1000/index.html", site.url());
    for release in releases {
        let folder = tempfile::tempdir()?;
        let outcomes = tokio::task::block_in_place(|| parsed(&release, folder.path(), &page))?;
        assert_eq!(outcomes.len(), 5, "a plugin for each language: {}", release.display());
        for (name, outcome) in &outcomes {
            let item = &outcome["items"][0];
            assert_eq!(item["title"], "夜のShadow: Faithful", "{name}: {outcome}");
            assert_eq!(item["upc"], outcomes[0].1["items"][0]["upc"], "{name}: {outcome}");
            assert_eq!(outcome["state"], outcomes[0].1["state"], "{name}: {outcome}");
            assert_eq!(outcome["state"].as_object().map(serde_json::Map::len), Some(1), "{name}: {outcome}");
        }
    }
    Ok(())
}
