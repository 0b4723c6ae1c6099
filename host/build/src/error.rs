//! What goes wrong between a source and a component, in words for the author.

use crate::Language;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The path is nothing that can be built.
    #[error("{}: {cause}", path.display())]
    NoSource {
        /// What was given.
        path: PathBuf,
        /// What is wrong with it, and the way out.
        cause: String,
    },
    /// A name that no plugin can have.
    #[error("`{0}` cannot be the name of a plugin: use lower-case letters, digits and inner hyphens, a letter first, at most 64")]
    Name(String),
    /// What is there already is never written over.
    #[error("{} is there already; choose another name, or remove it", .0.display())]
    Exists(PathBuf),
    /// The author's source is wrong.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The toolchain of the language was not found.
    #[error("{needs}; looked for it in {}", looked.join(", "))]
    NoToolchain {
        /// Whose toolchain.
        language: Language,
        /// What is missing.
        needs: String,
        /// Where it was looked for.
        looked: Vec<String>,
        /// Commands of which any one, or all lines of one, bring it.
        install: Vec<String>,
    },
    /// Another program could not do its work.
    #[error("{what}: {cause}")]
    Program {
        /// What was to be done.
        what: String,
        /// What the program said.
        cause: String,
    },
    /// A file could not be read or written.
    #[error("{} cannot be {act}: {cause}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What was to be done with it, as a participle.
        act: &'static str,
        /// Why not.
        cause: std::io::Error,
    },
}

impl BuildError {
    /// What is to be shown below the error's line: the author's own source, or commands to run. Several lines.
    pub fn details(&self) -> Option<String> {
        match self {
            Self::Fault(fault) => fault.snippet.clone(),
            Self::NoToolchain { install, .. } if !install.is_empty() => {
                Some(install.iter().map(|line| format!("  {line}\n")).collect())
            }
            _ => None,
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, act: &'static str, cause: std::io::Error) -> Self {
        Self::File { path: path.into(), act, cause }
    }

    pub(crate) fn program(what: impl Into<String>, cause: impl ToString) -> Self {
        Self::Program { what: what.into(), cause: cause.to_string() }
    }
}

/// At which step a build failed; the words of the drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The source is not of its language.
    Syntax,
    /// The source cannot be loaded, or does not define a crawler.
    Load,
    /// A tool is missing, or its arguments are wrong.
    Toolchain,
    /// The tool that makes components failed.
    Componentize,
}

/// What is wrong in an author's source, and where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fault {
    /// At which step.
    pub stage: Stage,
    /// What is wrong.
    pub message: String,
    /// The author's file.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// Its column, from 1.
    pub column: Option<u32>,
    /// The line itself, with a mark.
    pub snippet: Option<String>,
}

impl Fault {
    /// With its file as it is named in the folder of this process: tools name it in the project's folder, or wholly.
    pub(crate) fn seen_from_here(mut self, project: &Path) -> Self {
        if let Some(file) = self.file.take() {
            let within = project.join(&file);
            let file = if within.is_file() { within } else { PathBuf::from(file) };
            let here = std::env::current_dir().unwrap_or_default();
            self.file = Some(file.strip_prefix(&here).unwrap_or(&file).display().to_string());
        }
        self
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, "{number}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_said_as_compilers_say_it() {
        let fault = Fault {
            stage: Stage::Syntax,
            message: "Expected \";\"".into(),
            file: Some("crawler.js".into()),
            line: Some(3),
            column: Some(9),
            snippet: None,
        };
        assert_eq!(fault.to_string(), "crawler.js:3:9: Expected \";\"");
        let nowhere = Fault { file: None, ..fault };
        assert_eq!(nowhere.to_string(), "Expected \";\"");
    }

    #[test]
    fn a_faults_file_is_named_from_the_folder_of_the_process() {
        let fault = |file: &str| Fault {
            stage: Stage::Syntax,
            message: String::new(),
            file: Some(file.into()),
            line: None,
            column: None,
            snippet: None,
        };
        let seen = |file: &str, project: &Path| fault(file).seen_from_here(project).file;
        let here = std::env::current_dir().unwrap();
        // The tests run in the package's own folder.
        assert_eq!(seen("error.rs", Path::new("src")).as_deref(), Some("src/error.rs"));
        assert_eq!(seen(&here.join("src/error.rs").display().to_string(), Path::new("src")).as_deref(), Some("src/error.rs"));
        assert_eq!(seen("/elsewhere/x.c", Path::new("src")).as_deref(), Some("/elsewhere/x.c"));
    }
}
