//! The runs: pairs, one program right after the other, each checked.

use crate::cost::Cost;
use crate::programs::{Contestant, Programs, items};
use crate::site::Site;
use crate::verify;
use crate::workload::Workload;
use anyhow::{Context, Result};
use nephila_site::PageFacts;
use serde::Serialize;
use std::path::Path;

/// What both cost, one right after the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pair {
    /// The yardstick.
    pub bare_loop: Cost,
    /// Nephila.
    pub nephila: Cost,
}

impl Pair {
    /// What one of them cost.
    #[must_use]
    pub fn of(&self, contestant: Contestant) -> Cost {
        match contestant {
            Contestant::BareLoop => self.bare_loop,
            Contestant::Nephila => self.nephila,
        }
    }
}

/// Runs both, so many times, in an order that alternates; each run in an empty folder below `folder`.
///
/// A first pair is checked but not counted: it reads the programs from the disk and compiles the plugin into its cache.
///
/// # Errors
/// If something does not run, or if any output is not exactly right.
pub fn compare(programs: &Programs, workload: Workload, alternations: usize, folder: &Path) -> Result<Vec<Pair>> {
    let bench = Bench::start(programs, workload, folder)?;
    let run = |contestant| bench.run(programs, contestant);
    let mut pairs = Vec::with_capacity(alternations);
    for alternation in 0..=alternations {
        let pair = if alternation.is_multiple_of(2) {
            let bare_loop = run(Contestant::BareLoop)?;
            Pair { bare_loop, nephila: run(Contestant::Nephila)? }
        } else {
            let nephila = run(Contestant::Nephila)?;
            Pair { bare_loop: run(Contestant::BareLoop)?, nephila }
        };
        progress(workload, alternation, alternations, &pair);
        if alternation > 0 {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

/// A site that is crawled again and again, and what its pages say.
pub(crate) struct Bench<'a> {
    site: Site,
    facts: Vec<PageFacts>,
    folder: &'a Path,
}

impl<'a> Bench<'a> {
    /// Starts the site. Runs keep their files in an empty folder below `folder`.
    pub(crate) fn start(programs: &Programs, workload: Workload, folder: &'a Path) -> Result<Self> {
        Ok(Self { site: Site::start(&programs.site, &workload.arguments())?, facts: workload.facts(), folder })
    }

    /// Lets one crawl all of it.
    pub(crate) fn run(&self, programs: &Programs, contestant: Contestant) -> Result<Cost> {
        let folder = self.folder.join("run");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        self.site.reset()?;
        let cost = programs.run(contestant, &self.site.url, &folder)?;
        let verify = || {
            verify::items(&items(&folder), &self.site.url, &self.facts)?;
            verify::requests(&self.site.stats()?, &self.facts)
        };
        verify().with_context(|| format!("{} did not do the work", contestant.name()))?;
        Ok(cost)
    }
}

/// One line a pair, so that a person sees it going on, and where it is uneven.
fn progress(workload: Workload, alternation: usize, of: usize, pair: &Pair) {
    let pages = workload.pages() as f64;
    let per_page = |contestant| pair.of(contestant).cpu_seconds() * 1e3 / pages;
    let (bare_loop, nephila) = (per_page(Contestant::BareLoop), per_page(Contestant::Nephila));
    let name = if alternation == 0 { "warm-up".to_owned() } else { format!("{alternation} of {of}") };
    eprintln!(
        "{} {name}: CPU ms/page {bare_loop:.3} and {nephila:.3}, {:.2} times as much; outputs right",
        workload.name(),
        nephila / bare_loop,
    );
}
