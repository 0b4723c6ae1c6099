//! What cargo tells with `--message-format json`.

use crate::error::Fault;
use crate::{BuildError, Stage};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Errors that are shown whole; what they cause comes behind them.
const SHOWN: usize = 3;

/// What the build came to.
#[derive(Debug, Default)]
pub(super) struct Messages {
    errors: Vec<Diagnostic>,
    modules: Vec<(PathBuf, PathBuf)>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    message: Option<Diagnostic>,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    message: String,
    level: String,
    #[serde(default)]
    rendered: Option<String>,
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
}

impl Messages {
    pub(super) fn read(text: &str) -> Self {
        let mut read = Self::default();
        for message in text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok()) {
            match (message.reason.as_str(), message.message) {
                ("compiler-message", Some(diagnostic)) if diagnostic.level.starts_with("error") => read.errors.push(diagnostic),
                ("compiler-artifact", _) => {
                    let is_module = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "wasm");
                    read.modules.extend(message.filenames.into_iter().find(is_module).map(|file| (message.manifest_path, file)));
                }
                _ => {}
            }
        }
        read
    }

    /// The first error with a place, and the text of the first few.
    pub(super) fn fault(self) -> Option<BuildError> {
        // The last one says how many there were, and has no place.
        let placed: Vec<&Diagnostic> = self.errors.iter().filter(|error| !error.spans.is_empty()).collect();
        let first = *placed.first()?;
        let span = first.spans.iter().find(|span| span.is_primary).or(first.spans.first())?;
        let mut text: String = placed.iter().take(SHOWN).filter_map(|error| error.rendered.as_deref()).collect();
        if placed.len() > SHOWN {
            text.push_str(&format!("and {} more errors\n", placed.len() - SHOWN));
        }
        Some(BuildError::Fault(Box::new(Fault {
            stage: Stage::Syntax,
            message: first.message.clone(),
            file: Some(span.file_name.clone()),
            line: Some(span.line_start),
            column: Some(span.column_start),
            snippet: Some(text),
        })))
    }

    /// The package's module.
    pub(super) fn module(self, manifest: &Path) -> Result<PathBuf, BuildError> {
        let is_own = |path: &Path| match (path.canonicalize(), manifest.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => path == manifest,
        };
        self.modules.into_iter().rev().find(|(of, _)| is_own(of)).map(|(_, module)| module).ok_or_else(|| BuildError::NoSource {
            path: manifest.to_owned(),
            cause: "the package makes no module; its [lib] needs crate-type = [\"cdylib\", \"rlib\"]".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &str = r#"{"reason":"compiler-message","manifest_path":"/p/Cargo.toml","message":{"message":"cannot find value `x`","level":"error","rendered":"error[E0425]: cannot find value `x`\n --> src/lib.rs:3:5\n","spans":[{"file_name":"src/lib.rs","line_start":3,"column_start":5,"is_primary":true}]}}
{"reason":"compiler-message","message":{"message":"aborting due to 1 previous error","level":"error","rendered":"…","spans":[]}}
{"reason":"build-finished","success":false}"#;

    #[test]
    fn the_first_error_with_a_place_is_the_fault() {
        let error = Messages::read(ERROR).fault().unwrap();
        assert_eq!(error.to_string(), "src/lib.rs:3:5: cannot find value `x`");
        assert!(error.details().unwrap().contains("--> src/lib.rs:3:5"));
        assert!(Messages::read("no JSON").fault().is_none());
    }

    #[test]
    fn the_module_is_the_packages_own() {
        let built = r#"{"reason":"compiler-artifact","manifest_path":"/dep/Cargo.toml","filenames":["/t/libdep.rlib"]}
{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","filenames":["/t/libshop.rlib","/t/shop.wasm"]}"#;
        assert_eq!(Messages::read(built).module(Path::new("/p/Cargo.toml")).unwrap(), Path::new("/t/shop.wasm"));
        assert!(Messages::read("").module(Path::new("/p/Cargo.toml")).unwrap_err().to_string().contains("cdylib"));
    }
}
