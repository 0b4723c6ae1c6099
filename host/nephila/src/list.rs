//! `nephila list [DIR]`: the plugins in a folder.

use crate::cli::ListOptions;
use crate::exit::Exit;
use crate::plugin_host;
use crate::plugins::{FOLDERS, entry_points, in_folder};
use crate::voice::put;
use anyhow::{Context, Result};
use nephila_crawler::CrawlSettings;
use std::path::PathBuf;

/// Shows the plugins found, and beside those that cannot be loaded why.
pub async fn list(options: &ListOptions) -> Result<Exit> {
    let mut files = Vec::new();
    match &options.dir {
        Some(dir) => files.extend(in_folder(dir).with_context(|| format!("{} cannot be read", dir.display()))?),
        None => {
            for folder in FOLDERS.map(PathBuf::from) {
                // Either may be missing.
                files.extend(in_folder(&folder).unwrap_or_default());
            }
        }
    }
    if files.is_empty() {
        put!("no plugins; `nephila list DIR` looks into DIR, and `cargo xtask build` makes the examples\n");
        return Ok(Exit::Done);
    }
    let host = plugin_host::start(&CrawlSettings::default())?;
    for file in files {
        match host.load(&file).await {
            Ok(plugin) => {
                let manifest = plugin.manifest();
                put!("{:<16} {:<8} {}\n", plugin.name(), manifest.version, manifest.description);
                put!("{:<16} {:<8} {} ({})\n", "", "", file.display(), entry_points(&plugin).join(", "));
            }
            Err(error) => put!("{:<16} {:<8} cannot be loaded: {error}\n", file.display(), ""),
        }
    }
    Ok(Exit::Done)
}
