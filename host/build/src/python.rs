//! Python: an interpreter that has componentize-py runs the SDK's driver.

use crate::builder::{Made, Place};
use crate::driver::Driver;
use crate::process::on_path;
use crate::tools::Installation;
use crate::{BuildError, Folders, Language, Source};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The package and the version that the SDK is tested with; a test compares it with the SDK's own.
const PACKAGE: (&str, &str) = ("componentize-py", "0.25.1");

/// An interpreter with the package.
struct Interpreter {
    python: PathBuf,
    /// The package as installed: its name and version, or its program with its age.
    tool: String,
}

pub(crate) fn build(source: &Source, place: &Place<'_>) -> Result<Made, BuildError> {
    let candidates = candidates(source, place.folders);
    let Some(found) = candidates.iter().find_map(|candidate| candidate.interpreter()) else {
        return Err(BuildError::NoToolchain {
            language: Language::Python,
            needs: "building Python needs a Python 3.10 or newer with the package componentize-py (running it does not)"
                .to_owned(),
            looked: candidates.iter().map(Candidate::shown).collect(),
            install: installation(place.folders).lines(),
        });
    };
    let driver = Driver {
        interpreter: &found.python,
        script: place.sdk.join("plugin-sdk/python/build.py"),
        source: &source.main,
        wit: place.sdk.join("wit"),
        out: place.out,
        work: place.work,
        tools: None,
    };
    Ok(Made { inputs: driver.run()?.inputs })
}

/// Which tools a build would take, without starting any.
pub(crate) fn fingerprint(source: &Source, folders: &Folders) -> Option<String> {
    candidates(source, folders).iter().find_map(Candidate::interpreter).map(|found| found.tool)
}

pub(crate) fn installation(folders: &Folders) -> Installation {
    let (package, version) = PACKAGE;
    let home = home(folders);
    let python = python_of(&home);
    Installation::new(["python3".into(), "-m".into(), "venv".into(), home.into()]).then([
        python.into(),
        "-m".into(),
        "pip".into(),
        "install".into(),
        "--quiet".into(),
        format!("{package}=={version}").into(),
    ])
}

pub(crate) fn is_installed(folders: &Folders) -> bool {
    installed(&home(folders)) == Some(format!("{} {}", PACKAGE.0, PACKAGE.1))
}

fn home(folders: &Folders) -> PathBuf {
    folders.tools.join("python")
}

/// Where a Python may be.
enum Candidate {
    /// A virtual environment.
    Environment(PathBuf),
    /// The one that `componentize-py` on the path is run by.
    Path,
}

fn candidates(source: &Source, folders: &Folders) -> Vec<Candidate> {
    let own = [".venv", "venv"].map(|name| source.folder.join(name));
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let environments = own.into_iter().chain(active).chain([home(folders)]);
    environments.map(Candidate::Environment).chain([Candidate::Path]).collect()
}

impl Candidate {
    fn shown(&self) -> String {
        match self {
            Self::Environment(folder) => folder.display().to_string(),
            Self::Path => "$PATH".to_owned(),
        }
    }

    fn interpreter(&self) -> Option<Interpreter> {
        match self {
            Self::Environment(folder) => {
                let python = python_of(folder);
                let tool = installed(folder).filter(|_| python.exists())?;
                Some(Interpreter { python, tool })
            }
            Self::Path => {
                let program = on_path("componentize-py")?;
                let python = interpreter_of(&program)?;
                let changed = program.metadata().and_then(|file| file.modified()).ok()?;
                let age = changed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
                Some(Interpreter { python, tool: format!("{} of {age}", program.display()) })
            }
        }
    }
}

fn python_of(environment: &Path) -> PathBuf {
    if cfg!(windows) { environment.join("Scripts/python.exe") } else { environment.join("bin/python") }
}

/// The package in a virtual environment, by the folder that pip leaves: `componentize_py-0.25.1.dist-info`.
fn installed(environment: &Path) -> Option<String> {
    let libraries = [environment.join("lib"), environment.join("Lib")];
    let folders = libraries.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten()).filter_map(Result::ok);
    let sites = folders
        .map(|entry| entry.path())
        .map(|path| if path.ends_with("site-packages") { path } else { path.join("site-packages") });
    sites.flat_map(|site| std::fs::read_dir(site).into_iter().flatten()).filter_map(Result::ok).find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("componentize_py-")?.strip_suffix(".dist-info")?;
        Some(format!("componentize-py {version}"))
    })
}

/// What a script's first line says runs it.
fn interpreter_of(script: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(std::fs::File::open(script).ok()?.take(1024)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let program = PathBuf::from(words.next()?);
    let python = if program.ends_with("env") { on_path(words.next()?)? } else { program };
    python.is_file().then_some(python)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::sdk;

    #[test]
    fn the_version_is_that_of_the_sdk() {
        // Only where the SDK is in the repository.
        let Some(text) = sdk::text("plugin-sdk/python/driver/main.py") else { return };
        assert!(text.contains(PACKAGE.0) && text.contains(PACKAGE.1), "the SDK says another version");
    }

    #[test]
    fn an_environment_counts_if_it_has_the_package() {
        let place = tempfile::tempdir().unwrap();
        let folders = Folders { cache: place.path().join("cache"), tools: place.path().join("tools") };
        let main = place.path().join("shop/crawler.py");
        sdk::write(&main, b"").unwrap();
        let source = Source::find(&main).unwrap();
        let environment = source.folder.join(".venv");
        sdk::write(&python_of(&environment), b"").unwrap();
        assert_eq!(installed(&environment), None);
        std::fs::create_dir_all(environment.join("lib/python3.12/site-packages/componentize_py-0.25.1.dist-info")).unwrap();
        assert_eq!(fingerprint(&source, &folders).as_deref(), Some("componentize-py 0.25.1"));
    }

    #[test]
    fn a_scripts_interpreter_is_read_from_its_first_line() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("componentize-py");
        std::fs::write(&script, "#!/bin/sh\nexit 1\n").unwrap();
        assert_eq!(interpreter_of(&script), Some("/bin/sh".into()));
        std::fs::write(&script, "#!/usr/bin/env sh -x\n").unwrap();
        assert_eq!(interpreter_of(&script), on_path("sh"));
        std::fs::write(&script, [0xff, 0xfe]).unwrap();
        assert_eq!(interpreter_of(&script), None);
    }

    #[test]
    fn the_commands_that_install_it_make_an_environment_of_its_own() {
        let folders = Folders { cache: "/c".into(), tools: "/t".into() };
        let lines = installation(&folders).lines();
        assert_eq!(lines[0], "python3 -m venv /t/python");
        assert_eq!(lines[1], "/t/python/bin/python -m pip install --quiet componentize-py==0.25.1");
    }
}
