//! JavaScript and TypeScript: node runs the SDK's driver, with esbuild and componentize-qjs.

use crate::builder::{Made, Place};
use crate::driver::Driver;
use crate::process::on_path;
use crate::tools::Installation;
use crate::{BuildError, Folders, Language, Source};
use std::path::{Path, PathBuf};

/// The packages that the driver loads, in the versions that the SDK is tested with; a test compares them with its own.
const PACKAGES: [(&str, &str); 2] = [("esbuild", "0.28.2"), ("componentize-qjs", "0.4.5")];

/// The tools, found.
struct Tools {
    node: PathBuf,
    /// Where `node_modules` is.
    folder: PathBuf,
}

pub(crate) fn build(source: &Source, place: &Place<'_>) -> Result<Made, BuildError> {
    let tools = find(source, place.folders)?;
    let driver = Driver {
        interpreter: &tools.node,
        script: place.sdk.join("plugin-sdk/js/build.mjs"),
        source: &source.main,
        wit: place.sdk.join("wit"),
        out: place.out,
        work: place.work,
        tools: Some(&tools.folder),
    };
    Ok(Made { inputs: driver.run()?.inputs })
}

/// Which tools a build would take, without starting any.
pub(crate) fn fingerprint(source: &Source, folders: &Folders) -> Option<String> {
    let folder = folders_of(source, folders).into_iter().find(|folder| has_all(folder))?;
    let versions: Vec<String> =
        PACKAGES.iter().filter_map(|(package, _)| Some(format!("{package} {}", version(&folder, package)?))).collect();
    Some(versions.join(", "))
}

pub(crate) fn installation(folders: &Folders) -> Installation {
    let [first, second] = PACKAGES.map(|(package, version)| format!("{package}@{version}").into());
    Installation::new(["npm".into(), "install".into(), "--prefix".into(), home(folders).into(), first, second])
}

pub(crate) fn is_installed(folders: &Folders) -> bool {
    PACKAGES.iter().all(|(package, wanted)| version(&home(folders), package).as_deref() == Some(*wanted))
}

fn find(source: &Source, folders: &Folders) -> Result<Tools, BuildError> {
    let missing = |needs: &str, looked, install| BuildError::NoToolchain {
        language: Language::JavaScript,
        needs: needs.to_owned(),
        looked,
        install,
    };
    let Some(node) = on_path("node") else {
        let install = vec!["sudo apt-get install nodejs npm      (Debian, Ubuntu; elsewhere https://nodejs.org)".to_owned()];
        return Err(missing(
            "building JavaScript needs Node.js 18 or newer (running it does not)",
            vec!["$PATH".into()],
            install,
        ));
    };
    let candidates = folders_of(source, folders);
    match candidates.iter().find(|folder| has_all(folder)) {
        Some(folder) => Ok(Tools { node, folder: folder.clone() }),
        None => {
            let looked = candidates.iter().map(|folder| folder.join("node_modules").display().to_string()).collect();
            let needs = "building JavaScript needs the npm packages esbuild and componentize-qjs";
            Err(missing(needs, looked, installation(folders).lines()))
        }
    }
}

fn home(folders: &Folders) -> PathBuf {
    folders.tools.join("js")
}

/// The source's own folder and those above it, as Node.js would look, as far as the project goes; then the user's.
fn folders_of(source: &Source, folders: &Folders) -> Vec<PathBuf> {
    let own = source.main.parent().and_then(|folder| std::path::absolute(folder).ok());
    let mut found: Vec<PathBuf> = own
        .iter()
        .flat_map(|folder| folder.ancestors())
        .filter(|folder| folder.join("node_modules").is_dir())
        .map(PathBuf::from)
        .collect();
    found.truncate(4);
    found.push(home(folders));
    found
}

fn has_all(folder: &Path) -> bool {
    PACKAGES.iter().all(|(package, _)| version(folder, package).is_some())
}

fn version(folder: &Path, package: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("node_modules").join(package).join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(package["version"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk;

    #[test]
    fn the_versions_are_those_of_the_sdk() {
        // Only where the SDK is in the repository.
        let Some(text) = sdk::text("plugin-sdk/js/build/tools.mjs") else { return };
        for (package, version) in PACKAGES {
            assert!(
                text.contains(package) && text.contains(&format!("'{version}'")),
                "{package} {version} is not what the SDK says"
            );
        }
    }

    #[test]
    fn the_projects_tools_come_before_the_users() {
        let place = tempfile::tempdir().unwrap();
        let folders = Folders { cache: place.path().join("cache"), tools: place.path().join("tools") };
        let main = place.path().join("shop/crawler.js");
        sdk::write(&main, b"").unwrap();
        let source = Source::find(&main).unwrap();
        assert_eq!(fingerprint(&source, &folders), None);

        let put = |folder: PathBuf, version: &str| {
            for (package, _) in PACKAGES {
                let text = format!("{{\"version\": \"{version}\"}}");
                sdk::write(&folder.join("node_modules").join(package).join("package.json"), text.as_bytes()).unwrap();
            }
        };
        put(home(&folders), "1.0.0");
        assert_eq!(fingerprint(&source, &folders).as_deref(), Some("esbuild 1.0.0, componentize-qjs 1.0.0"));
        put(place.path().join("shop"), "2.0.0");
        assert_eq!(fingerprint(&source, &folders).as_deref(), Some("esbuild 2.0.0, componentize-qjs 2.0.0"));
    }

    #[test]
    fn the_command_that_installs_them_names_folder_and_versions() {
        let folders = Folders { cache: "/c".into(), tools: "/t".into() };
        assert_eq!(installation(&folders).lines(), ["npm install --prefix /t/js esbuild@0.28.2 componentize-qjs@0.4.5"]);
    }
}
