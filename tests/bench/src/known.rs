//! What a page costs where so many URLs are known: a job is filled once, and resumed for few and for many pages, each time from a copy.
//!
//! Decision: the mesh is one in halves. All pages of its first half are known from the beginning, and each of them links to 19 of
//! these and to one page of the second half that nobody else links to, so that nineteen of twenty links are known at any size and however
//! many pages were handled. (A mesh of 10,000 pages of which 95 % are known has nothing new any more after some hundreds.)
//! Opening a job reads the keys back, which takes as long as the job is large, and is no work of a page: the longer run's cost less
//! the shorter one's is that of the pages between them. So the shorter one must be long enough to see the keys' last.

use crate::cost::Cost;
use crate::fill;
use crate::programs::{Contestant, Programs};
use crate::site::Site;
use crate::work::{WorkFolder, remove};
use anyhow::{Context, Result, ensure};
use nephila_model::Counter;
use nephila_store::{JobDir, read_status};
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Links of a page.
pub(crate) const LINKS: u64 = 20;

/// Bytes of a page.
pub(crate) const BYTES: usize = 4_096;

/// Pages that the crawl handles before its job is filled.
const BEGUN: u64 = 3;

/// What is to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSize {
    /// URLs that are known.
    pub known: u64,
    /// Pages of the shorter run.
    pub short: u64,
    /// Pages of the longer run.
    pub long: u64,
}

/// `KNOWN`, or `KNOWN:SHORT:LONG`. Without them a fifth and four fifths of the pages, or 60,000 and 160,000 where that is fewer.
impl FromStr for KnownSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split(':').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let size = match numbers.as_deref() {
            Ok([known]) => Self { known: *known, short: (known / 5).min(60_000), long: (known / 5 * 4).min(160_000) },
            Ok([known, short, long]) => Self { known: *known, short: *short, long: *long },
            _ => return Err("write it as KNOWN or KNOWN:SHORT:LONG, all of them numbers".into()),
        };
        // Of what was found at the beginning, some pages are of the second half, which link to nothing new.
        let sound = size.known >= 100 && 0 < size.short && size.short < size.long && size.long + BEGUN < size.known;
        sound.then_some(size).ok_or_else(|| "it needs 100 known URLs, fewer pages than that, and in the longer run more".into())
    }
}

impl KnownSize {
    fn folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("known-{}-{}-{}", self.known, self.short, self.long))
    }

    /// How often both runs are made for one figure: few pages, of which 6,000 take a second, would drown in the noise of two starts.
    fn times(&self) -> u64 {
        (60_000 / (self.long - self.short)).clamp(1, 10)
    }
}

/// Some resumptions for the same number of pages, together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// How many.
    pub times: u32,
    /// Pages that they handled.
    pub pages: u64,
    /// Links of them that were new.
    pub new_links: u64,
    /// What the processes cost; of memory, the most that one had.
    pub cost: Cost,
}

impl Resumed {
    fn and(self, other: Self) -> Self {
        let (one, two) = (self.cost, other.cost);
        Self {
            times: self.times + other.times,
            pages: self.pages + other.pages,
            new_links: self.new_links + other.new_links,
            cost: Cost {
                user_seconds: one.user_seconds + two.user_seconds,
                system_seconds: one.system_seconds + two.system_seconds,
                wall_seconds: one.wall_seconds + two.wall_seconds,
                peak_bytes: one.peak_bytes.max(two.peak_bytes),
            },
        }
    }
}

/// As many shorter as longer resumptions from copies of one job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownRuns {
    /// The shorter.
    pub short: Resumed,
    /// The longer.
    pub long: Resumed,
}

impl KnownRuns {
    /// Processor time of a page once the job is open, in seconds.
    #[must_use]
    pub fn page_seconds(&self) -> f64 {
        (self.long.cost.cpu_seconds() - self.short.cost.cpu_seconds()) / (self.long.pages - self.short.pages) as f64
    }

    /// Processor time that is not of pages: the start, and reading the keys back.
    #[must_use]
    pub fn opening_seconds(&self) -> f64 {
        (self.short.cost.cpu_seconds() - self.page_seconds() * self.short.pages as f64) / f64::from(self.short.times)
    }

    /// How many links of a page were known.
    #[must_use]
    pub fn known_links(&self) -> f64 {
        LINKS as f64 - self.long.new_links as f64 / self.long.pages as f64
    }
}

/// Measures all sizes in turn, so many times, in an order that alternates. Gives, for each size, its runs. The jobs are in the folder until
/// that is dropped.
///
/// # Errors
/// If something does not run, or did not do the work.
pub fn measure_known(
    programs: &Programs,
    sizes: &[KnownSize],
    alternations: usize,
    work: &WorkFolder,
) -> Result<Vec<Vec<KnownRuns>>> {
    let folder = work.path();
    let jobs = sizes.iter().map(|size| Job::filled(programs, *size, folder)).collect::<Result<Vec<_>>>()?;
    let mut runs = vec![Vec::with_capacity(alternations); jobs.len()];
    for alternation in 0..alternations {
        for turn in 0..jobs.len() {
            let which = if alternation.is_multiple_of(2) { turn } else { jobs.len() - 1 - turn };
            let (job, size) = (&jobs[which], jobs[which].size);
            let pair = job.pair(programs)?;
            eprintln!(
                "{} known, {} of {alternations}: CPU ms/page {:.3}, opening {:.2} s; {:.2} of {LINKS} links known",
                size.known,
                alternation + 1,
                pair.page_seconds() * 1e3,
                pair.opening_seconds(),
                pair.known_links(),
            );
            runs[which].push(pair);
        }
    }
    Ok(runs)
}

/// A job with its site.
struct Job {
    size: KnownSize,
    site: Site,
    /// Has the job as it was filled.
    filled: PathBuf,
    /// Where it is resumed: where it was begun, since a job remembers where its output is.
    run: PathBuf,
    before: Counts,
}

impl Job {
    fn filled(programs: &Programs, size: KnownSize, folder: &Path) -> Result<Self> {
        let pages = usize::try_from(size.known)?;
        let arguments = ["mesh", "--seed", "1", "--halves", "--pages", &(2 * pages).to_string()].map(str::to_owned);
        let shape = ["--links".to_owned(), LINKS.to_string(), "--bytes".to_owned(), BYTES.to_string()];
        let site = Site::start(&programs.site, &[arguments.as_slice(), &shape].concat())?;
        let folder = size.folder(folder);
        let (filled, run) = (folder.join("filled"), folder.join("run"));
        remove(&folder)?;
        std::fs::create_dir_all(&run).with_context(|| format!("cannot create {}", run.display()))?;
        crawl_until(programs, BEGUN, &site, &run)?;
        eprintln!("{} known: filling the job", size.known);
        fill::fill(&run.join(JOB), &site.url, pages)?;
        std::fs::rename(&run, &filled).with_context(|| format!("cannot rename {}", run.display()))?;
        let before = Counts::of(&filled.join(JOB))?;
        let found = size.known..=size.known + BEGUN;
        ensure!(found.contains(&before.requests), "{} URLs are known instead of {}", before.requests, size.known);
        Ok(Self { size, site, filled, run, before })
    }

    fn pair(&self, programs: &Programs) -> Result<KnownRuns> {
        let once = || -> Result<KnownRuns> {
            Ok(KnownRuns { short: self.resume(programs, self.size.short)?, long: self.resume(programs, self.size.long)? })
        };
        (1..self.size.times()).try_fold(once()?, |sum, _| {
            let runs = once()?;
            Ok(KnownRuns { short: sum.short.and(runs.short), long: sum.long.and(runs.long) })
        })
    }

    fn resume(&self, programs: &Programs, pages: u64) -> Result<Resumed> {
        remove(&self.run)?;
        copy(&self.filled, &self.run)?;
        self.site.reset()?;
        let cost = crawl_until(programs, BEGUN + pages, &self.site, &self.run)?;
        let after = Counts::of(&self.run.join(JOB))?;
        after
            .check(&self.before, pages)
            .with_context(|| format!("the crawl with {} known URLs did not do the work", self.size.known))?;
        let asked = self.site.stats()?.by_url;
        let pages_asked = asked.iter().filter(|(path, _)| *path != "/robots.txt");
        ensure!(pages_asked.clone().all(|(_, times)| *times == 1), "a page was asked for twice");
        ensure!(pages_asked.count() as u64 == pages, "the site was asked for other pages than the crawl says");
        remove(&self.run)?;
        Ok(Resumed { times: 1, pages, new_links: after.requests - self.before.requests, cost })
    }
}

/// What [`Programs::run`] calls it.
const JOB: &str = "job";

/// Crawls until so many pages are handled, all earlier ones included.
fn crawl_until(programs: &Programs, pages: u64, site: &Site, folder: &Path) -> Result<Cost> {
    let mut programs = programs.clone();
    programs.nephila_arguments.extend(["--max-requests".to_owned(), pages.to_string()]);
    programs.run(Contestant::Nephila, &site.url, folder)
}

/// What a job says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    requests: u64,
    finished: u64,
    items: u64,
    failed: u64,
}

impl Counts {
    fn of(job: &Path) -> Result<Self> {
        let read = || read_status(&JobDir::existing(job)?);
        let counted = read().with_context(|| format!("cannot read the job in {}", job.display()))?.statistics;
        let of = |counter| counted.get(&counter);
        Ok(Self {
            requests: of(Counter::Requests),
            finished: of(Counter::Finished),
            items: of(Counter::Items),
            failed: of(Counter::Failed) + counted.skipped() + of(Counter::Retries),
        })
    }

    fn check(&self, before: &Self, pages: u64) -> Result<()> {
        let handled = self.finished - before.finished;
        ensure!(handled == pages, "{handled} pages were handled instead of {pages}");
        ensure!(self.items - before.items == pages, "{} items are of {pages} pages", self.items - before.items);
        ensure!(self.failed == 0, "{} attempts failed", self.failed);
        let new = self.requests - before.requests;
        // The few pages that were found at the beginning may have other links.
        ensure!(new.abs_diff(pages) <= 20 + pages / 50, "{new} links were new, of {pages} pages with one each");
        Ok(())
    }
}

/// Copies a folder, down to the disk: what is still on its way there would be written beside the run that is measured.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let cannot = || format!("cannot copy {} to {}", from.display(), to.display());
    std::fs::create_dir_all(to).with_context(cannot)?;
    std::fs::set_permissions(to, std::fs::metadata(from).with_context(cannot)?.permissions()).with_context(cannot)?;
    for entry in std::fs::read_dir(from).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let (file, copied) = (entry.path(), to.join(entry.file_name()));
        if file.is_dir() {
            copy(&file, &copied)?;
        } else {
            std::fs::copy(&file, &copied).and_then(|_| File::open(&copied)?.sync_all()).with_context(cannot)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Counts, KnownRuns, KnownSize, Resumed, copy};
    use crate::Cost;

    #[test]
    fn a_size_says_how_many_pages_or_leaves_it() {
        let size = |text: &str| text.parse::<KnownSize>();
        assert_eq!(size("10000"), Ok(KnownSize { known: 10_000, short: 2_000, long: 8_000 }));
        assert_eq!(size("10000000"), Ok(KnownSize { known: 10_000_000, short: 60_000, long: 160_000 }));
        assert_eq!(size("1000:10:20"), Ok(KnownSize { known: 1_000, short: 10, long: 20 }));
        for wrong in ["", "x", "1000:10", "1000:20:10", "1000:0:10", "1000:10:1000", "99"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_two_runs_have_in_common_is_the_opening() {
        let resumed = |pages, new_links, cpu| {
            let cost = Cost { user_seconds: cpu, system_seconds: 0.5, wall_seconds: 1.0, peak_bytes: 1 };
            Resumed { times: 1, pages, new_links, cost }
        };
        let (short, long) = (resumed(100, 100, 3.0), resumed(300, 270, 5.0));
        for runs in [KnownRuns { short, long }, KnownRuns { short: short.and(short), long: long.and(long) }] {
            assert_eq!(runs.page_seconds(), 0.01);
            assert_eq!(runs.opening_seconds(), 2.5);
            assert!((runs.known_links() - 19.1).abs() < 1e-9);
        }
    }

    #[test]
    fn few_pages_are_measured_more_often() {
        let times = |text: &str| text.parse::<KnownSize>().unwrap().times();
        assert_eq!(["10000000", "10000", "1000"].map(times), [1, 10, 10]);
    }

    #[test]
    fn a_run_that_did_other_work_is_found_out() {
        let before = Counts { requests: 1_000, finished: 3, items: 3, failed: 0 };
        let right = Counts { requests: 1_498, finished: 503, items: 503, failed: 0 };
        right.check(&before, 500).unwrap();
        for wrong in [
            Counts { finished: 502, ..right },
            Counts { items: 502, ..right },
            Counts { failed: 1, ..right },
            Counts { requests: 1_010, ..right },
        ] {
            assert!(wrong.check(&before, 500).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_folder_is_copied_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("job")).unwrap();
        std::fs::write(from.join("job/rows"), "rows").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("job/rows")).unwrap(), "rows");
    }
}
