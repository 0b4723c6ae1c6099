//! The contract keeps what its releases promised, and its page is current.

#![allow(clippy::expect_used, reason = "what fails here fails a test")]

use nephila_contract::{Change, Contract, changes, reference};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn current() -> Contract {
    Contract::read(&root().join("wit")).expect("the contract")
}

#[test]
fn the_page_is_what_the_contract_says() {
    let page = std::fs::read_to_string(root().join("docs/plugin-api.md")).expect("docs/plugin-api.md");
    assert!(page == reference(&current()), "docs/plugin-api.md is not current; run `cargo xtask plugin-api`");
}

#[test]
fn every_item_says_what_it_is() {
    let silent: Vec<String> = nephila_contract::items(&current())
        .into_iter()
        .filter(|item| item.docs.trim().is_empty())
        .map(|item| format!("{}.{}", item.interface, item.name))
        .collect();
    assert!(silent.is_empty(), "without a word in wit/: {silent:?}");
}

#[test]
fn what_was_released_is_as_it_was() {
    let folder = root().join("wit/released");
    let mut releases: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("wit/released")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    releases.sort();
    assert!(!releases.is_empty(), "no release in {}", folder.display());
    for release in releases {
        let released = Contract::read(&release).expect("a released contract");
        let broken = changes(&released, &current());
        assert!(
            broken.is_empty(),
            "plugins that were built for {} would break: {broken:#?}\nAdd a function or an interface instead (docs/architecture.md).",
            released.name()
        );
    }
}

/// A contract of one file.
fn contract(text: &str) -> Contract {
    let folder = tempfile(text);
    let read = Contract::read(&folder).expect("well-formed");
    std::fs::remove_dir_all(folder).expect("removed");
    read
}

fn tempfile(text: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("nephila-contract-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("a.wit"), text).expect("written");
    folder
}

const OLD: &str = "package a:b@0.1.0;
interface store { record row { a: u32 } variant kind { x, y(string) } get: func(key: string) -> option<row>; of: func(kind: kind); }
interface handler { use store.{row}; handle: func(row: row) -> result<_, string>; }
interface extra { go: func(); }
world every-entry-point { import store; import extra; export handler; }";

#[test]
fn what_may_be_added_is_told_from_what_breaks_plugins() {
    let told = |from: &str, to: &str| -> Vec<String> {
        assert!(OLD.contains(from), "{from}");
        let name = |change: Change| match change {
            Change::Gone { what } => format!("gone {what}"),
            Change::Changed { what, .. } => format!("changed {what}"),
            Change::Demanded { what } => format!("demanded {what}"),
        };
        changes(&contract(OLD), &contract(&OLD.replace(from, to))).into_iter().map(name).collect()
    };
    let none: [&str; 0] = [];
    assert_eq!(told("get: func", "put: func(row: row); get: func"), none);
    assert_eq!(told("interface handler", "interface more { f: func(); } interface handler"), none);
    assert_eq!(told("world every", "interface finish { done: func(); } world every").len(), 0);
}

#[test]
fn what_breaks_is_named() {
    let told = |from: &str, to: &str| {
        assert!(OLD.contains(from), "{from}");
        format!("{:?}", changes(&contract(OLD), &contract(&OLD.replace(from, to))))
    };
    for (from, to, wanted) in [
        ("a: u32", "a: u32, b: u32", "Changed { what: \"store.row\""),
        ("a: u32", "a: u64", "Changed { what: \"store.row\""),
        ("x, y(string)", "x, y(string), z", "Changed { what: \"store.kind\""),
        ("get: func(key: string)", "get: func(key: string, other: string)", "Changed { what: \"store.get\""),
        ("-> option<row>", "-> row", "Changed { what: \"store.get\""),
        ("of: func(kind: kind);", "", "Gone { what: \"store.of\""),
        (
            "handle: func(row: row) -> result<_, string>;",
            "handle: func(row: row) -> result<_, string>; more: func();",
            "Demanded { what: \"handler.more\"",
        ),
        ("export handler;", "", "Changed { what: \"handler.interface\""),
        ("import extra;", "", "Changed { what: \"extra.interface\""),
        ("result<_, string>", "result<u32, string>", "Changed { what: \"handler.handle\""),
    ] {
        let told = told(from, to);
        assert!(told.contains(wanted), "{from} to {to}: {told}");
    }
}
