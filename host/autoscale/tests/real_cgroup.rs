//! A real cgroup of half a processor and 512 MB, where one can be made: a child process in it sees its limits and what it uses of
//! them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use nephila_autoscale::{AutoscaleSettings, Vitals};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: u64 = 512 << 20;
const BALLAST: usize = 100 << 20;
const IN_THE_CAGE: &str = "NEPHILA_TEST_IN_THE_CAGE";

/// Folders of a cgroup that are removed with it.
struct Cage(Vec<PathBuf>);

impl Cage {
    /// Half a processor and 512 MB below our own cgroup; or why not.
    fn make() -> Result<Self, String> {
        let membership = std::fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = |controller: &str| {
            membership.lines().find_map(|line| {
                let (names, path) = line.split_once(':')?.1.split_once(':')?;
                names.split(',').any(|name| name == controller).then(|| path.trim_start_matches('/').to_owned())
            })
        };
        let name = format!("nephila-test-{}", std::process::id());
        let mut cage = Self(Vec::new());
        if let (Some(cpu), Some(account), Some(memory)) = (own("cpu"), own("cpuacct"), own("memory")) {
            let mount = Path::new("/sys/fs/cgroup");
            let cpu = cage.folder(mount.join("cpu").join(cpu).join(&name))?;
            cage.folder(mount.join("cpuacct").join(account).join(&name))?;
            let memory = cage.folder(mount.join("memory").join(memory).join(&name))?;
            write(&cpu.join("cpu.cfs_period_us"), "100000")?;
            write(&cpu.join("cpu.cfs_quota_us"), "50000")?;
            write(&memory.join("memory.limit_in_bytes"), &LIMIT.to_string())?;
        } else {
            let own = membership.lines().find_map(|line| line.strip_prefix("0::")).ok_or("there are no cgroups")?;
            let folder = cage.folder(Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/')).join(&name))?;
            write(&folder.join("cpu.max"), "50000 100000")?;
            write(&folder.join("memory.max"), &LIMIT.to_string())?;
        }
        Ok(cage)
    }

    fn folder(&mut self, path: PathBuf) -> Result<PathBuf, String> {
        match std::fs::create_dir(&path) {
            Ok(()) => self.0.push(path.clone()),
            // Two controllers may share a hierarchy.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
        Ok(path)
    }

    fn lock_up(&self, child: &Child) -> Result<(), String> {
        self.0.iter().try_for_each(|folder| write(&folder.join("cgroup.procs"), &child.id().to_string()))
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        for folder in &self.0 {
            // The kernel takes a moment to see that the child is gone.
            let deadline = Instant::now() + Duration::from_secs(10);
            while std::fs::remove_dir(folder).is_err() && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[test]
fn a_process_in_a_cgroup_sees_its_limits_and_what_it_uses_of_them() {
    if std::env::var_os(IN_THE_CAGE).is_some() {
        return in_the_cage();
    }
    let cage = match Cage::make() {
        Ok(cage) => cage,
        Err(cause) => {
            eprintln!(
                "skipped: a_process_in_a_cgroup_sees_its_limits_and_what_it_uses_of_them: no cgroup can be made here: {cause}"
            );
            return;
        }
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_in_a_cgroup_sees_its_limits_and_what_it_uses_of_them", "--nocapture"])
        .env(IN_THE_CAGE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    if let Err(cause) = cage.lock_up(&child) {
        child.kill().unwrap();
        child.wait().unwrap();
        eprintln!(
            "skipped: a_process_in_a_cgroup_sees_its_limits_and_what_it_uses_of_them: nobody can be put into the cgroup: {cause}"
        );
        return;
    }
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{}", lines.join("\n"));
    assert!(lines.iter().any(|line| line.contains("the cage was seen")), "{}", lines.join("\n"));
}

fn in_the_cage() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let mut ballast = vec![0_u8; BALLAST];
    ballast.iter_mut().step_by(1_024).for_each(|byte| *byte = 1);

    let mut vitals = Vitals::new(&AutoscaleSettings::default());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::black_box(0);
                }
            });
        }
        // Until the quota is used up, however long that takes.
        let deadline = Instant::now() + Duration::from_secs(120);
        let sample = loop {
            std::thread::sleep(Duration::from_millis(500));
            let sample = vitals.sample();
            if sample.cpu.own_ratio > 0.8 || Instant::now() > deadline {
                break sample;
            }
        };
        stop.store(true, Ordering::Relaxed);
        println!("{sample:?}");
        assert_eq!((sample.memory.total, sample.memory.allowed, sample.cpu.cores), (LIMIT, LIMIT, 0.5));
        assert!(sample.memory.current > BALLAST as u64 && sample.memory.current < LIMIT);
        assert!(sample.memory.system_wide_used > BALLAST as u64 && sample.memory.system_wide_used < LIMIT);
        assert!(sample.cpu.own_ratio > 0.8 && sample.cpu.used_ratio > 0.8, "two busy threads use up half a processor");
    });
    println!("the cage was seen");
    drop(ballast);
}
