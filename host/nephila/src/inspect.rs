//! `nephila inspect PLUGIN`: what a plugin is, what it asks for, and whether this host can run it.

use crate::cli::InspectOptions;
use crate::exit::Exit;
use crate::run::text_of;
use crate::voice::put;
use crate::{plugin_host, plugins, sources};
use anyhow::Result;
use nephila_crawler::CrawlSettings;
use std::path::Path;

/// Shows a plugin. A plugin that this host cannot run is an error that says why.
pub async fn inspect(options: &InspectOptions) -> Result<Exit> {
    let path = sources::component(&options.plugin).await?.file;
    show(&path).await
}

/// Shows the plugin in a component.
pub async fn show(path: &Path) -> Result<Exit> {
    let plugin = plugin_host::start(&CrawlSettings::default())?.load(path).await?;
    let manifest = plugin.manifest();
    put!("{} {}: {}\n", plugin.name(), manifest.version, manifest.description);
    put!("  file      {}, {} bytes\n", path.display(), plugin.size());
    put!("  sha256    {}\n", plugin.digest());
    let asked = manifest.settings.iter().map(|(name, value)| CrawlSettings::default().set_by_manifest(name, &text_of(value)));
    match asked.collect::<Result<Vec<()>, _>>() {
        Ok(_) => put!("  verdict   compatible with this host\n"),
        Err(error) => put!("  verdict   compatible with this host, but its manifest is not: {error}\n"),
    }
    put!("  exports   {}\n", plugins::entry_points(&plugin).join(", "));
    print_list("imports", &plugin.imports().iter().map(|import| shown(import)).collect::<Vec<_>>());
    print_list("starts at", &manifest.start_urls);
    for (name, value) in &manifest.settings {
        put!("  sets      {name} = {value}\n");
    }
    Ok(Exit::Done)
}

// Script toolchains import what they never use, so that it is no reason to refuse a plugin.
fn shown(import: &str) -> String {
    let reaches_out = ["wasi:sockets/", "wasi:filesystem/"].iter().any(|package| import.starts_with(package));
    if reaches_out { format!("{import} (refused when it is used)") } else { import.to_owned() }
}

fn print_list(name: &str, lines: &[impl std::fmt::Display]) {
    for (index, line) in lines.iter().enumerate() {
        put!("  {:<9} {line}\n", if index == 0 { name } else { "" });
    }
    if lines.is_empty() {
        put!("  {name:<9} none\n");
    }
}
