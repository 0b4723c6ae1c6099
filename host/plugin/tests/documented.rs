//! docs/plugin-errors.md is a promise: it has every code that the host can answer with.

#![allow(clippy::expect_used, reason = "what fails here fails a test")]

use std::path::Path;

fn codes(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            codes(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a source");
        for rest in source.split("refused(").skip(1) {
            let quoted = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
            // Unit tests have helpers of that name that take URLs.
            let code = quoted.map(|(code, _)| code).filter(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
            found.extend(code.map(str::to_owned));
        }
    }
}

#[test]
fn every_code_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/plugin-errors.md")).expect("the page");
    let mut found = Vec::new();
    codes(&root.join("src"), &mut found);
    assert!(found.len() > 10, "the sources are not read as they should be: {found:?}");
    let missing: Vec<_> = found.iter().filter(|code| !page.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "docs/plugin-errors.md lacks {missing:?}");
}
