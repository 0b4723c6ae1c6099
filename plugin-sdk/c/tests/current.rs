//! The files that are made from `wit/` are what `wit/` says today.

use std::path::Path;

mod bindings;

#[test]
fn the_generated_files_are_current() {
    let stale = bindings::stale(Path::new(env!("CARGO_MANIFEST_DIR"))).map_err(|error| format!("{error:#}"));
    let names = stale.map(|files| files.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(names, Ok(Vec::new()), "run `cargo run --package nephila-sdk-c --example generate`");
}
