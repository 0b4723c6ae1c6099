//! The whole harness over a few pages, in whatever profile this is. Nothing here depends on a speed.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The programs are those that `cargo xtask test` has built before it runs tests.
fn bench(folder: &Path, arguments: &[&str]) -> Output {
    bench_command(folder, &[["--alternations", "2"].as_slice(), arguments].concat()).output().unwrap()
}

fn bench_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.arg("--folder").arg(folder.join("runs")).args(arguments).env("RUST_BACKTRACE", "1");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn both_sites_are_crawled_by_both_programs_and_all_outputs_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let (json, markdown) = (folder.path().join("figures.json"), folder.path().join("page.md"));
    std::fs::write(
        &markdown,
        "# Page\n<!-- figures: begin (cargo xtask bench --markdown FILE writes what is between these lines) -->\n<!-- figures: end -->\n",
    )
    .unwrap();
    let files = ["--json", json.to_str().unwrap(), "--markdown", markdown.to_str().unwrap()];

    let output = bench(folder.path(), &[["--pages", "40", "--nephila-args", "-c 3"].as_slice(), &files].concat());

    assert!(output.status.success(), "{}", said(&output));
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let workloads = figures["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 2);
    for workload in workloads {
        assert_eq!(workload["pairs"].as_array().unwrap().len(), 2);
        assert!(workload["cpuRatio"]["median"].as_f64().unwrap() > 0.0);
    }
    let page = std::fs::read_to_string(markdown).unwrap();
    assert!(page.starts_with("# Page\n") && page.contains("| nephila   |") && page.contains("**heavy: 40 pages"), "{page}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("| ratio "));
}

#[test]
fn a_program_that_leaves_pages_out_is_found_out() {
    let folder = tempfile::tempdir().unwrap();

    let output = bench(folder.path(), &["--only", "mesh", "--pages", "40", "--nephila-args", "--max-depth 1"]);

    assert!(!output.status.success());
    let said = said(&output);
    assert!(said.contains("nephila did not do the work") && said.contains("of 40 pages are missing"), "{said}");
}

#[test]
fn what_is_not_built_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let output = bench(folder.path(), &["--plugin", "nowhere.wasm"]);
    let said = said(&output);
    assert!(said.starts_with("bench: ") && said.contains("nowhere.wasm is not built"), "{said}");
    assert_eq!(said.lines().count(), 1, "no backtrace: {said}");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn where_figures_cannot_go_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    std::fs::write(&page, "no marks").unwrap();
    let page = page.to_str().unwrap();
    for (arguments, expected) in [
        (["--pages", "40", "--markdown", page].as_slice(), "has not the lines"),
        (&["--json", "/nowhere/figures.json"], "cannot write /nowhere/figures.json"),
        (&["--only", "mesh", "--markdown", page], "leave out --only"),
        (&["--nephila-args", "--job x"], "--job is the benchmark's own"),
    ] {
        let output = bench(folder.path(), arguments);
        assert!(!output.status.success() && said(&output).contains(expected), "{}", said(&output));
        assert!(!folder.path().join("runs").exists());
    }
}

fn known(folder: &Path, sizes: &str, alternations: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_known"));
    command.args(["--alternations", alternations, "--sizes", sizes, "--folder"]).arg(folder.join("runs"));
    command
}

#[test]
fn a_job_is_filled_and_resumed_for_fewer_and_for_more_pages() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let left = folder.path().join("runs/known-5-1-2");
    std::fs::create_dir_all(left.join("filled")).unwrap();

    let output = known(folder.path(), "700:20:100", "1").arg("--json").arg(&json).output().unwrap();

    assert!(output.status.success(), "{}", said(&output));
    assert!(!left.exists(), "what another start has left");
    assert_eq!(jobs(folder.path()), 0);
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let size = &figures["sizes"][0];
    assert_eq!(size["runs"][0]["long"]["pages"], 1_000);
    assert!(size["knownLinks"]["median"].as_f64().unwrap() > 18.5, "{size}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("|        700 | 20 and 100 "));
}

/// Jobs that are in the folder of runs.
fn jobs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder.join("runs")).map_or_else(|_| Vec::new(), |entries| entries.flatten().collect());
    entries.iter().filter(|entry| entry.file_name().to_string_lossy().starts_with("known-")).count()
}

#[test]
fn a_measurement_that_fails_leaves_no_job() {
    let folder = tempfile::tempdir().unwrap();
    let output = known(folder.path(), "700:20:100", "1").args(["--nephila-args", "--max-depth 0"]).output().unwrap();
    assert!(!output.status.success() && said(&output).contains("known: "), "{}", said(&output));
    assert_eq!(jobs(folder.path()), 0);
}

/// What the kernel says of processes.
#[cfg(target_os = "linux")]
mod killed {
    use super::{bench_command, jobs, known};
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    /// All processes that have not ended, with parent and name.
    fn processes() -> BTreeMap<u32, (u32, String)> {
        let numbers = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let stat = |pid: u32| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (head, rest) = text.rsplit_once(") ")?;
            let mut rest = rest.split(' ');
            let ended = matches!(rest.next()?, "Z" | "X");
            let parent = rest.next()?.parse().ok()?;
            (!ended).then(|| (pid, (parent, head.split_once('(').unwrap_or_default().1.to_owned())))
        };
        numbers.filter_map(stat).collect()
    }

    /// Those that descend from one.
    fn family(pid: u32) -> BTreeMap<u32, (u32, String)> {
        let all = processes();
        let descends = |mut one: u32| {
            while let Some((parent, _)) = all.get(&one) {
                if *parent == pid {
                    return true;
                }
                one = *parent;
            }
            false
        };
        all.iter().filter(|(one, _)| descends(**one)).map(|(one, what)| (*one, what.clone())).collect()
    }

    /// Waits until site, `measure` and `nephila` run below it.
    fn wait_for_nephila(child: &Child) -> BTreeMap<u32, (u32, String)> {
        loop {
            let family = family(child.id());
            let runs = |name: &str| family.values().any(|(_, found)| found == name);
            if ["nephila-site", "measure", "nephila"].iter().all(|name| runs(name)) {
                return family;
            }
            std::thread::yield_now();
        }
    }

    fn signal(child: &Child, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
    }

    /// Waits until none of them is left, and none that was started later and works in the folder.
    fn wait_for_end(family: &BTreeMap<u32, (u32, String)>, folder: &Path) {
        // A number may be somebody else's by then, but hardly with the same name.
        let known = |pid: &u32, name: &str| family.get(pid).is_some_and(|(_, known)| known == name);
        let there = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        while processes().iter().any(|(pid, (_, name))| known(pid, name) || there(pid)) {
            std::thread::yield_now();
        }
    }

    fn start(command: &mut Command) -> Child {
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn what_a_killed_benchmark_has_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["KILL", "TERM"] {
            let mut child =
                start(&mut bench_command(folder.path(), &["--alternations", "1000", "--only", "mesh", "--pages", "500"]));
            let family = wait_for_nephila(&child);
            signal(&child, name);
            child.wait().unwrap();
            wait_for_end(&family, folder.path());
        }
    }

    #[test]
    fn a_measurement_that_is_told_to_end_leaves_no_job_and_no_process() {
        let folder = tempfile::tempdir().unwrap();
        for (name, code) in [("TERM", 143), ("INT", 130)] {
            let mut child = start(&mut known(folder.path(), "700:20:100", "1000"));
            let family = wait_for_nephila(&child);
            signal(&child, name);
            assert_eq!(child.wait().unwrap().code(), Some(code));
            wait_for_end(&family, folder.path());
            assert_eq!(jobs(folder.path()), 0);
        }
    }
}
