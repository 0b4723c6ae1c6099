//! Writes docs/plugin-api.md; `cargo xtask plugin-api` calls it.

use anyhow::{Context, Result};
use nephila_contract::{Contract, reference};
use std::path::Path;

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("docs/plugin-api.md");
    let text = reference(&Contract::read(&root.join("wit"))?);
    std::fs::write(&page, text).with_context(|| format!("{} cannot be written", page.display()))
}
