//! The whole harness over a few pages, in whatever profile this is. Nothing here depends on a speed.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The programs are those that `cargo xtask test` has built before it runs tests.
fn bench(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(["--alternations", "2", "--folder"]).arg(folder.join("runs")).args(arguments);
    command.output().unwrap()
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

    let output = bench(folder.path(), &[["--pages", "40"].as_slice(), &files].concat());

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
    assert!(said(&output).contains("nowhere.wasm is not built"));
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn a_job_is_filled_and_resumed_for_fewer_and_for_more_pages() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_known"));
    command.args(["--alternations", "1", "--sizes", "700:20:100", "--folder"]).arg(folder.path().join("runs"));

    let output = command.arg("--json").arg(&json).output().unwrap();

    assert!(output.status.success(), "{}", said(&output));
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let size = &figures["sizes"][0];
    assert_eq!(size["runs"][0]["long"]["pages"], 1_000);
    assert!(size["knownLinks"]["median"].as_f64().unwrap() > 18.5, "{size}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("|        700 | 20 and 100 "));
}
