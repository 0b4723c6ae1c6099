//! Where figures go beside the screen: a file of JSON, and a table between the marks of a Markdown file.
//!
//! Decision: they are looked at before anything is measured. What takes a quarter of an hour must not be lost to a misspelt name.

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// The files, if any.
#[derive(Debug, Clone, Default, Args)]
pub struct Targets {
    /// Write all figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Put the table between the marks of this file
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// The lines of a Markdown file that a table stands between.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    begin: &'static str,
    end: &'static str,
}

/// Those of [`crate::Report`].
pub const FIGURES: Marks = Marks {
    begin: "<!-- figures: begin (cargo xtask bench --markdown FILE writes what is between these lines) -->",
    end: "<!-- figures: end -->",
};

/// Those of [`crate::KnownReport`].
pub const KNOWN_FIGURES: Marks = Marks {
    begin: "<!-- known: begin (cargo xtask bench-known --markdown FILE writes what is between these lines) -->",
    end: "<!-- known: end -->",
};

/// Those of [`crate::LanguagesReport`].
pub const LANGUAGE_FIGURES: Marks = Marks {
    begin: "<!-- languages: begin (cargo xtask bench-languages --markdown FILE writes what is between these lines) -->",
    end: "<!-- languages: end -->",
};

impl Targets {
    /// Whether the figures could be written. Changes nothing.
    ///
    /// # Errors
    /// If a file cannot be written, or the Markdown file has no marks.
    pub fn check(&self, marks: Marks) -> Result<()> {
        if let Some(file) = &self.json {
            writable(file)?;
        }
        if let Some(file) = &self.markdown {
            with_table(file, marks, "")?;
            writable(file)?;
        }
        Ok(())
    }

    /// Writes the figures, and the table, which has the same figures for people.
    ///
    /// # Errors
    /// If a file cannot be written, or the Markdown file has no marks.
    pub fn write(&self, marks: Marks, figures: &impl Serialize, table: &str) -> Result<()> {
        if let Some(file) = &self.json {
            write(file, &(serde_json::to_string_pretty(figures)? + "\n"))?;
        }
        if let Some(file) = &self.markdown {
            write(file, &with_table(file, marks, table)?)?;
        }
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Whether a file can be written. One that is not there is made, and removed again.
fn writable(file: &Path) -> Result<()> {
    let exists = file.exists();
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened
        .map(drop)
        .and_then(|()| if exists { Ok(()) } else { std::fs::remove_file(file) })
        .with_context(|| format!("cannot write {}", file.display()))
}

/// The text of a Markdown file with another table.
fn with_table(file: &Path, marks: Marks, table: &str) -> Result<String> {
    let old = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    between_marks(&old, marks, table).with_context(|| {
        format!(
            "{} has not the lines that the table goes between; put them in: {} and {}",
            file.display(),
            marks.begin,
            marks.end
        )
    })
}

fn between_marks(old: &str, Marks { begin, end }: Marks, text: &str) -> Option<String> {
    let (before, rest) = old.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{}\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::{FIGURES, KNOWN_FIGURES, LANGUAGE_FIGURES, Targets, between_marks};

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        for marks in [FIGURES, KNOWN_FIGURES, LANGUAGE_FIGURES] {
            let file = |text| format!("before\n{}\n{text}\n{}\nafter\n", marks.begin, marks.end);
            assert_eq!(between_marks(&file("old"), marks, "new\n"), Some(file("new")));
        }
        assert_eq!(between_marks("no marks", FIGURES, "new"), None);
    }

    #[test]
    fn a_check_changes_nothing_and_finds_what_would_fail() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new.json"), folder.path().join("old.md"));
        let text = format!("{}\nold\n{}\n", FIGURES.begin, FIGURES.end);
        std::fs::write(&old, &text).unwrap();
        let targets = Targets { json: Some(new.clone()), markdown: Some(old.clone()) };

        targets.check(FIGURES).unwrap();
        assert!(!new.exists());
        assert_eq!(std::fs::read_to_string(&old).unwrap(), text);

        let error = |targets: Targets, marks| format!("{:#}", targets.check(marks).unwrap_err());
        assert!(error(targets, KNOWN_FIGURES).contains("has not the lines"));
        let nowhere = Some(folder.path().join("nowhere/figures"));
        assert!(error(Targets { json: nowhere.clone(), markdown: None }, FIGURES).contains("cannot write"));
        assert!(error(Targets { json: None, markdown: nowhere }, FIGURES).contains("cannot read"));
    }
}
