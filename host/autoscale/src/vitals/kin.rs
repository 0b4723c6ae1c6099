//! This process and its children, and what they use.
//!
//! Decision: who is a child of whom is found by reading each process's parent once, since few kernels list children. A process
//! that has no children, as a crawl without a browser, learns so by one call of the kernel and reads nothing of others. Parents
//! are read anew every half minute: a number may have been given to another process in between.

use super::files::Files;
use super::pss::{Resident, Shares};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long what is known of others' parents counts.
const FORGET: Duration = Duration::from_secs(30);

/// Steps from a process up to us at most: what is read while processes come and go could be a ring.
const GENERATIONS: usize = 64;

/// What a family uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Family {
    /// On processors so far, by those who live and by those of them who have died.
    pub cpu: Duration,
    /// Bytes.
    pub memory: u64,
}

/// Who belongs to us.
#[derive(Debug)]
pub(super) struct Kin {
    parents: HashMap<u32, u32>,
    forget_at: Instant,
    shares: Shares,
    page: u64,
    ticks_per_second: u64,
}

impl Kin {
    /// Nobody is known yet.
    pub(super) fn new(now: Instant) -> Self {
        let page = rustix::param::page_size() as u64;
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        Self { parents: HashMap::new(), forget_at: now + FORGET, shares: Shares::default(), page, ticks_per_second }
    }

    /// What we and our children use.
    pub(super) fn family(&mut self, files: &Files, now: Instant) -> Family {
        let Some(me) = files.read("/proc/self/stat").and_then(|text| Stat::parse(&text)) else { return Family::default() };
        let mut alive = vec![me.process];
        if may_have_children(files) {
            alive.extend(self.descendants(files, me.process, now));
        }
        self.shares.begin(&alive);
        let mut family = Family::default();
        for process in alive {
            let read = |name| files.read(format!("/proc/{process}/{name}"));
            // Whoever has died since is no longer there, and its time has gone to its parent.
            let Some(stat) = read("stat").and_then(|text| Stat::parse(&text)) else { continue };
            family.cpu += self.time(stat.ticks);
            if let Some(resident) = read("statm").and_then(|text| Resident::parse(&text, self.page)) {
                family.memory += self.shares.own(files, process, resident, now);
            }
        }
        family
    }

    fn descendants(&mut self, files: &Files, me: u32, now: Instant) -> Vec<u32> {
        if self.forget_at <= now {
            self.parents.clear();
            self.forget_at = now + FORGET;
        }
        let running = files.numbered("/proc");
        let mut parents = HashMap::with_capacity(running.len());
        for process in running {
            let known = self.parents.get(&process).copied();
            let parent =
                || files.read(format!("/proc/{process}/stat")).and_then(|text| Stat::parse(&text)).map(|stat| stat.parent);
            if let Some(parent) = known.or_else(parent) {
                parents.insert(process, parent);
            }
        }
        self.parents = parents;
        self.parents.keys().copied().filter(|process| *process != me && self.is_below(*process, me)).collect()
    }

    fn is_below(&self, process: u32, me: u32) -> bool {
        std::iter::successors(self.parents.get(&process), |parent| self.parents.get(*parent))
            .take(GENERATIONS)
            .any(|at| *at == me)
    }

    fn time(&self, ticks: u64) -> Duration {
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_per_second);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

// Asks without taking: whoever waits for a child still gets it.
fn may_have_children(files: &Files) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let any = || waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
    !files.are_real() || !matches!(any(), Err(rustix::io::Errno::CHILD))
}

/// What we need of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    process: u32,
    parent: u32,
    /// Of user and system, its own and those of its children that it has waited for.
    ticks: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        let process = text.split(' ').next()?.parse().ok()?;
        // Its name may have blanks and brackets in it.
        let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let ticks = fields.skip(9).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Self { process, parent, ticks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn process(root: &Path, pid: u32, parent: u32, ticks: [u64; 4], pages: u64) {
        let folder = root.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&folder).unwrap();
        let [user, system, child_user, child_system] = ticks;
        let stat = format!(
            "{pid} (a) b (c) S {parent} 1 1 0 -1 4194304 96 0 0 0 {user} {system} {child_user} {child_system} 20 0 1 0 73311 3133440 361\n"
        );
        std::fs::write(folder.join("stat"), &stat).unwrap();
        std::fs::write(folder.join("statm"), format!("9999 {pages} 0 1 0 1 0\n")).unwrap();
    }

    fn be(root: &Path, pid: u32) {
        std::fs::create_dir_all(root.join("proc/self")).unwrap();
        std::fs::copy(root.join(format!("proc/{pid}/stat")), root.join("proc/self/stat")).unwrap();
    }

    #[test]
    fn a_name_with_blanks_and_brackets_is_skipped() {
        let text = "19132 (ca) t) 9) R 19121 19121 16362 0 -1 4194304 96 0 0 0 1 2 3 4 20 0 1 0 73311";
        assert_eq!(Stat::parse(text), Some(Stat { process: 19_132, parent: 19_121, ticks: 10 }));
        assert_eq!(Stat::parse("19132"), None);
    }

    #[test]
    fn children_and_their_children_count_and_nobody_else() {
        let (root, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let root = root.path();
        process(root, 10, 1, [100, 50, 25, 25], 10);
        process(root, 11, 10, [100, 0, 0, 0], 20);
        process(root, 12, 11, [0, 100, 0, 0], 30);
        process(root, 1, 0, [900, 0, 0, 0], 900);
        process(root, 13, 1, [900, 0, 0, 0], 900);
        be(root, 10);
        let (files, mut kin) = (Files::under(root), Kin::new(now));
        let page = rustix::param::page_size() as u64;
        let family = kin.family(&files, now);
        assert_eq!(family, Family { cpu: kin.time(400), memory: 60 * page });

        // A child ends, and its time goes to its parent; another comes.
        std::fs::remove_dir_all(root.join("proc/12")).unwrap();
        process(root, 11, 10, [100, 0, 0, 100], 20);
        process(root, 14, 11, [0; 4], 1);
        assert_eq!(kin.family(&files, now), Family { cpu: kin.time(400), memory: 31 * page });
    }

    #[test]
    fn a_number_that_was_given_to_another_is_noticed_in_half_a_minute() {
        let (root, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let root = root.path();
        process(root, 10, 1, [0; 4], 1);
        process(root, 11, 10, [0; 4], 1);
        be(root, 10);
        let (files, mut kin) = (Files::under(root), Kin::new(now));
        let page = rustix::param::page_size() as u64;
        assert_eq!(kin.family(&files, now).memory, 2 * page);
        process(root, 11, 1, [0; 4], 1);
        assert_eq!(kin.family(&files, now + FORGET).memory, page);
    }

    #[test]
    fn processes_that_are_each_others_parents_are_no_kin_and_no_end() {
        let (root, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let root = root.path();
        process(root, 10, 1, [0; 4], 1);
        process(root, 11, 12, [0; 4], 1);
        process(root, 12, 11, [0; 4], 1);
        be(root, 10);
        assert_eq!(Kin::new(now).family(&Files::under(root), now).memory, rustix::param::page_size() as u64);
    }
}
