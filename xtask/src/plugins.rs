//! Plugins: compiled by one call of cargo, then each encoded as a component.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use nephila_build::component;
use nephila_build::rust::{TARGET, Toolchain, remappings};
use serde_json::Value;

use crate::folders::Folders;
use crate::process::{cargo, output, run};
use crate::setup;

/// The folder of the example plugins, which are real crawlers.
const EXAMPLES: &str = "plugins";

/// The plugins that only tests and the benchmark use.
const TEST_GUESTS: [&str; 3] = ["tests/hostile", "tests/bench-plugin", "tests/ledger-plugin"];

/// A package of this workspace that is a plugin.
#[derive(Debug)]
struct Plugin {
    name: String,
    /// The name of its library, which is the name of the core module.
    library: String,
    /// The folder that its component goes to.
    goes_to: PathBuf,
}

/// Builds the example plugins.
pub(crate) fn build_examples(folders: &Folders) -> Result<()> {
    build(folders, find(folders, false)?)
}

/// Builds the example plugins and those that only tests use.
pub(crate) fn build_all(folders: &Folders) -> Result<()> {
    build(folders, find(folders, true)?)
}

fn build(folders: &Folders, plugins: Vec<Plugin>) -> Result<()> {
    if plugins.is_empty() {
        return Ok(());
    }
    let toolchain = setup::plugin_toolchain()?;
    compile(folders, &toolchain, &plugins)?;
    for plugin in &plugins {
        encode(folders, plugin).with_context(|| format!("the plugin {}", plugin.name))?;
    }
    Ok(())
}

fn compile(folders: &Folders, toolchain: &Toolchain, plugins: &[Plugin]) -> Result<()> {
    let mut command = toolchain.cargo_build(&remappings(&folders.root, toolchain));
    command.current_dir(&folders.root).args(["--locked", "--profile", "plugin", "--target-dir"]);
    command.arg(folders.guest_target());
    for plugin in plugins {
        command.args(["--package", &plugin.name]);
    }
    run(&mut command)
}

fn encode(folders: &Folders, plugin: &Plugin) -> Result<()> {
    let module = folders.guest_target().join(TARGET).join("plugin").join(format!("{}.wasm", plugin.library));
    let file = plugin.goes_to.join(format!("{}.wasm", plugin.name));
    let shown = folders.short(&file);
    if is_newer(&file, &module)? {
        println!("{shown} is up to date");
        return Ok(());
    }

    let bytes = component::encode(&module)?;
    let surface = component::surface(&bytes)?;
    println!("{shown}: {} kB; {}", bytes.len().div_ceil(1000), surface.describe());
    if !surface.unexpected().is_empty() {
        bail!("it imports what the host does not offer: {}", surface.unexpected().join(", "));
    }
    write(&file, &bytes).with_context(|| format!("cannot write {shown}"))
}

fn is_newer(file: &Path, than: &Path) -> Result<bool> {
    let time = |path: &Path| -> std::io::Result<SystemTime> { path.metadata()?.modified() };
    let source = time(than).with_context(|| format!("cargo left no {}", than.display()))?;
    Ok(time(file).is_ok_and(|time| time >= source))
}

/// A reader sees the old file or the new one, never a part.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = file.with_extension("part");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&part, bytes)?;
    std::fs::rename(part, file)
}

/// The workspace's packages that are plugins, by their folder.
fn find(folders: &Folders, with_test_guests: bool) -> Result<Vec<Plugin>> {
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(&mut command)?).context("cargo's metadata is no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo's metadata has no packages")?;

    let mut plugins = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().and_then(|folder| folder.strip_prefix(&folders.root).ok()).unwrap_or(manifest);
        let goes_to = if folder.starts_with(EXAMPLES) {
            folders.plugins()
        } else if with_test_guests && TEST_GUESTS.iter().any(|guest| folder == Path::new(guest)) {
            folders.test_plugins()
        } else {
            continue;
        };
        match library(package) {
            Some(library) => plugins.push(Plugin { name: name.to_owned(), library: library.replace('-', "_"), goes_to }),
            None => println!("passed over: {} (its Cargo.toml has no crate-type `cdylib`)", folder.display()),
        }
    }
    Ok(plugins)
}

/// The name of a package's library that can be a component.
fn library(package: &Value) -> Option<&str> {
    let targets = package["targets"].as_array()?;
    let is_cdylib = |target: &&Value| target["crate_types"].as_array().is_some_and(|types| types.iter().any(|it| it == "cdylib"));
    targets.iter().find(is_cdylib)?["name"].as_str()
}
