//! `nephila inspect PLUGIN`: what a plugin is, what it asks for, and whether this host can run it.

use crate::cli::InspectOptions;
use crate::exit::Exit;
use crate::run::text_of;
use crate::voice::put;
use crate::{plugin_host, plugins, sources};
use anyhow::Result;
use nephila_crawler::CrawlSettings;
use std::collections::BTreeMap;
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
    print_list("imports", &by_package(plugin.imports()));
    print_list("starts at", &manifest.start_urls);
    for (name, value) in &manifest.settings {
        put!("  sets      {name} = {value}\n");
    }
    Ok(Exit::Done)
}

/// A line for each package: `nephila:crawler@0.1.0: log, page, types`.
fn by_package(imports: &[String]) -> Vec<String> {
    let mut packages: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for import in imports {
        // `wasi:io/streams@0.2.6`; what is not of that form is a line of its own.
        let (package, interface) = match import.split_once('/') {
            Some((package, interface)) => match interface.split_once('@') {
                Some((interface, version)) => (format!("{package}@{version}"), interface),
                None => (package.to_owned(), interface),
            },
            None => (import.clone(), ""),
        };
        packages.entry(package).or_default().push(interface);
    }
    packages.iter().map(|(package, interfaces)| line(package, interfaces)).collect()
}

// Script toolchains import what they never use, so that it is no reason to refuse a plugin.
fn line(package: &str, interfaces: &[&str]) -> String {
    let reaches_out = ["wasi:sockets@", "wasi:filesystem@"].iter().any(|outside| package.starts_with(outside));
    let named = interfaces.iter().copied().filter(|interface| !interface.is_empty()).collect::<Vec<_>>().join(", ");
    let what = if named.is_empty() { package.to_owned() } else { format!("{package}: {named}") };
    if reaches_out { format!("{what} (refused when it is used)") } else { what }
}

fn print_list(name: &str, lines: &[impl std::fmt::Display]) {
    for (index, line) in lines.iter().enumerate() {
        put!("  {:<9} {line}\n", if index == 0 { name } else { "" });
    }
    if lines.is_empty() {
        put!("  {name:<9} none\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_a_line_for_each_package_and_version() {
        let imports = [
            "nephila:crawler/log@0.1.0",
            "wasi:io/streams@0.2.6",
            "nephila:crawler/page@0.1.0",
            "wasi:sockets/tcp@0.2.6",
            "wasi:io/streams@0.2.0",
            "wasi:sockets/udp@0.2.6",
            "plain",
        ];
        let lines = by_package(&imports.map(str::to_owned));
        let expected = [
            "nephila:crawler@0.1.0: log, page",
            "plain",
            "wasi:io@0.2.0: streams",
            "wasi:io@0.2.6: streams",
            "wasi:sockets@0.2.6: tcp, udp (refused when it is used)",
        ];
        assert_eq!(lines, expected);
        assert!(by_package(&[]).is_empty());
    }
}
