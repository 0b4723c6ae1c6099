//! `nephila inspect PLUGIN`: what a plugin is, what it asks for, and whether this host can run it.

use crate::cli::InspectOptions;
use crate::exit::Exit;
use crate::plugins;
use crate::run::plugin_host;
use anyhow::Result;
use nephila_crawler::CrawlSettings;

/// Shows a plugin. A plugin that this host cannot run is an error that says why.
pub async fn inspect(options: &InspectOptions) -> Result<Exit> {
    let path = plugins::find(&options.plugin)?;
    let plugin = plugin_host(&CrawlSettings::default())?.load(&path).await?;
    let manifest = plugin.manifest();
    println!("{} {}: {}", plugin.name(), manifest.version, manifest.description);
    println!("  file      {}, {} bytes", path.display(), plugin.size());
    println!("  sha256    {}", plugin.digest());
    println!("  verdict   compatible with this host");
    println!("  exports   {}", plugins::entry_points(&plugin).join(", "));
    print_list("imports", plugin.imports());
    print_list("starts at", &manifest.start_urls);
    for (name, value) in &manifest.settings {
        println!("  sets      {name} = {value}");
    }
    Ok(Exit::Done)
}

fn print_list(name: &str, lines: &[impl std::fmt::Display]) {
    for (index, line) in lines.iter().enumerate() {
        println!("  {:<9} {line}", if index == 0 { name } else { "" });
    }
    if lines.is_empty() {
        println!("  {name:<9} none");
    }
}
