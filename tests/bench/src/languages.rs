//! What a page costs in each language: the same plugin in all of them, in a fresh sandbox for each page and in reused ones, beside the bare
//! loop in the same round.
//!
//! Decision: what a fresh sandbox adds is the difference of two whole crawls, since all that it costs (memory to map, pages to fault in, an
//! engine that starts) is in none of the figures that a host could take of a call by itself.

use crate::compare::Bench;
use crate::cost::Cost;
use crate::programs::{Contestant, Programs};
use crate::workload::Workload;
use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use std::path::Path;

/// Calls of a reused sandbox.
const CALLS: &str = "--set plugin-reuse=65536";

/// A language that plugins are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// C.
    C,
    /// JavaScript.
    #[value(alias = "js")]
    JavaScript,
    /// TypeScript.
    #[value(alias = "ts")]
    TypeScript,
    /// Python.
    #[value(alias = "py")]
    Python,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Rust, Self::C, Self::JavaScript, Self::TypeScript, Self::Python];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::C => "C",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
        }
    }

    /// The plugin's source below `sources`; that of Rust is built already.
    fn source(self) -> Option<&'static str> {
        match self {
            Self::Rust => None,
            Self::C => Some("mesh.c"),
            Self::JavaScript => Some("mesh.js"),
            Self::TypeScript => Some("mesh.ts"),
            Self::Python => Some("mesh.py"),
        }
    }
}

/// What one round cost: the bare loop, and each language right after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// The yardstick.
    pub bare_loop: Cost,
    /// In the order in which they were asked for.
    pub languages: Vec<Both>,
}

/// What a language cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Both {
    /// Which.
    pub language: Language,
    /// With a fresh sandbox for each page.
    pub fresh: Cost,
    /// With sandboxes that are reused.
    pub reused: Cost,
}

/// Crawls a mesh with each language, so many times, in an order that alternates. A first round compiles the plugins and is not counted.
///
/// # Errors
/// If something does not run or is not built, or if any output is not exactly right.
pub fn measure_languages(
    programs: &Programs,
    sources: &Path,
    languages: &[Language],
    workload: Workload,
    rounds: usize,
    folder: &Path,
) -> Result<Vec<Round>> {
    let bench = Bench::start(programs, workload, folder)?;
    let pages = workload.pages() as f64;
    let with = |language: Language, more: &str| -> Result<Programs> {
        let mut own = programs.clone();
        if let Some(source) = language.source() {
            own.plugin = sources.join(source);
            ensure!(own.plugin.is_file(), "{} is not there; give the folder as --sources", own.plugin.display());
        }
        own.nephila_arguments.extend(more.split_whitespace().map(str::to_owned));
        Ok(own)
    };
    let mut counted = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        let bare_loop = bench.run(programs, Contestant::BareLoop)?;
        let mut costs = Vec::with_capacity(languages.len());
        for language in languages {
            let (fresh, reused) = (with(*language, "")?, with(*language, CALLS)?);
            let run = |own: &Programs| bench.run(own, Contestant::Nephila);
            let both = if round.is_multiple_of(2) {
                let fresh = run(&fresh)?;
                Both { language: *language, fresh, reused: run(&reused)? }
            } else {
                let reused = run(&reused)?;
                Both { language: *language, fresh: run(&fresh)?, reused }
            };
            let per_page = |cost: &Cost| cost.cpu_seconds() * 1e3 / pages;
            let name = if round == 0 { "warm-up".to_owned() } else { format!("{round} of {rounds}") };
            let (language, fresh, reused) = (language.name(), per_page(&both.fresh), per_page(&both.reused));
            eprintln!(
                "{name}, {language}: CPU ms/page {fresh:.3} fresh, {reused:.3} reused; {:.3} the bare loop",
                per_page(&bare_loop)
            );
            costs.push(both);
        }
        if round > 0 {
            counted.push(Round { bare_loop, languages: costs });
        }
    }
    Ok(counted)
}
