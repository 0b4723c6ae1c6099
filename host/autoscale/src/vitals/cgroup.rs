//! Which folders describe this process's cgroup, for one controller.
//!
//! Decision: both versions, and both at once: a controller that version 1 has is read there, any other in version 2. Limits of
//! parents apply too, so that what is found is the way from the process's own folder up to where the hierarchy is mounted. What
//! lies above a container's mount is not to be seen; version 1 says its limits nevertheless (`hierarchical_memory_limit`),
//! version 2 does not.

use super::files::Files;
use std::path::{Component, Path, PathBuf};

/// What a cgroup can limit or count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Controller {
    /// Quota of processor time.
    Cpu,
    /// Version 1's account of processor time, which may have a hierarchy of its own.
    CpuAccount,
    /// Memory.
    Memory,
}

impl Controller {
    const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::CpuAccount => "cpuacct",
            Self::Memory => "memory",
        }
    }
}

/// Which files a cgroup has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// A hierarchy for each controller.
    One,
    /// One for all.
    Two,
}

/// A process's place in a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lineage {
    /// Which files there are.
    pub version: Version,
    /// The process's own folder, its parent, and so on up to the mount.
    pub folders: Vec<PathBuf>,
}

impl Lineage {
    /// Of the process itself; `None` if the controller limits nothing here.
    pub(super) fn find(files: &Files, controller: Controller) -> Option<Self> {
        let membership = files.read("/proc/self/cgroup")?;
        let mounts = files.read("/proc/self/mountinfo")?;
        let name = controller.name();
        let one = membership.lines().find_map(|line| {
            let (names, path) = line.split_once(':')?.1.split_once(':')?;
            names.split(',').any(|other| other == name).then_some(path)
        });
        if let Some(path) = one {
            return Self::below(&mounts, Version::One, path, |kind, options| {
                kind == "cgroup" && options.split(',').any(|option| option == name)
            });
        }
        let two = membership.lines().find_map(|line| line.strip_prefix("0::"))?;
        Self::below(&mounts, Version::Two, two, |kind, _| kind == "cgroup2")
    }

    fn below(mounts: &str, version: Version, path: &str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Self> {
        let mut mounts: Vec<Mount> = mounts.lines().filter_map(|line| Mount::parse(line, &is_wanted)).collect();
        let path = Path::new(path);
        // A mount may show a part of the hierarchy only. One that shows the process's own part is best.
        let best = mounts.iter().position(|mount| path.starts_with(&mount.root)).unwrap_or(0);
        if mounts.is_empty() {
            return None;
        }
        let mount = mounts.swap_remove(best);
        // Outside the part that is shown, or above the root of a namespace: what is mounted is all that can be known.
        let inside = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let inside = if inside.components().all(|part| matches!(part, Component::Normal(_))) { inside } else { Path::new("") };
        let folders = inside.ancestors().map(|part| mount.at.join(part)).collect();
        Some(Self { version, folders })
    }
}

/// A line of `/proc/self/mountinfo`.
struct Mount {
    root: PathBuf,
    at: PathBuf,
}

impl Mount {
    fn parse(line: &str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, at) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let (kind, options) = (kind.next()?, kind.nth(1)?);
        is_wanted(kind, options).then(|| Self { root: plain(root), at: plain(at) })
    }
}

/// The kernel writes blanks and backslashes in paths as octal numbers.
fn plain(path: &str) -> PathBuf {
    PathBuf::from(path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(cgroup: &str, mountinfo: &str, controller: Controller) -> Option<Lineage> {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        std::fs::write(root.path().join("proc/self/cgroup"), cgroup).unwrap();
        std::fs::write(root.path().join("proc/self/mountinfo"), mountinfo).unwrap();
        Lineage::find(&Files::under(root.path()), controller)
    }

    fn folders(lineage: &Lineage) -> Vec<&str> {
        lineage.folders.iter().map(|folder| folder.to_str().unwrap().trim_end_matches('/')).collect()
    }

    #[test]
    fn version_two_is_walked_up_to_its_mount() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = find("0::/user.slice/user-1000.slice/crawl.scope\n", mounts, Controller::Memory).unwrap();
        assert_eq!(found.version, Version::Two);
        assert_eq!(
            folders(&found),
            [
                "/sys/fs/cgroup/user.slice/user-1000.slice/crawl.scope",
                "/sys/fs/cgroup/user.slice/user-1000.slice",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup",
            ]
        );
    }

    #[test]
    fn version_one_has_a_hierarchy_for_each_controller() {
        let cgroup = "4:memory:/docker/abc\n2:cpuacct,cpu:/docker/abc\n1:name=systemd:/\n0::/\n";
        let mounts = "\
            32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let memory = find(cgroup, mounts, Controller::Memory).unwrap();
        assert_eq!(memory.version, Version::One);
        assert_eq!(
            folders(&memory),
            ["/sys/fs/cgroup/memory/docker/abc", "/sys/fs/cgroup/memory/docker", "/sys/fs/cgroup/memory"]
        );
        for controller in [Controller::Cpu, Controller::CpuAccount] {
            let found = find(cgroup, mounts, controller).unwrap();
            assert_eq!(found.folders[0], Path::new("/sys/fs/cgroup/cpu,cpuacct/docker/abc"));
        }
    }

    #[test]
    fn a_container_that_sees_its_own_part_only_finds_itself_at_the_mount() {
        let mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let found = find("4:memory:/docker/abc\n", mounts, Controller::Memory).unwrap();
        assert_eq!(folders(&found), ["/sys/fs/cgroup/memory"]);
        let other = find("4:memory:/somewhere/else\n", mounts, Controller::Memory).unwrap();
        assert_eq!(folders(&other), ["/sys/fs/cgroup/memory"]);
    }

    #[test]
    fn a_process_above_its_namespace_climbs_out_of_no_folder() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let found = find("0::/../../other\n", mounts, Controller::Memory).unwrap();
        assert_eq!(folders(&found), ["/sys/fs/cgroup"]);
    }

    #[test]
    fn paths_with_blanks_are_read_as_the_kernel_writes_them() {
        let mounts = "30 23 0:26 / /mnt/c\\040groups rw - cgroup2 cgroup2 rw\n";
        let found = find("0::/a b\n", mounts, Controller::Cpu).unwrap();
        assert_eq!(folders(&found), ["/mnt/c groups/a b", "/mnt/c groups"]);
    }

    #[test]
    fn without_cgroups_there_is_nothing() {
        assert_eq!(find("", "1 1 0:1 / / rw - ext4 /dev/vda rw\n", Controller::Memory), None);
        assert_eq!(find("0::/\n", "1 1 0:1 / / rw - ext4 /dev/vda rw\nnonsense\n", Controller::Memory), None);
    }
}
