//! The plugin's input: what `--input` gives.

use anyhow::{Context, Result, anyhow};
use std::io::Read;

/// Bytes of an input at most: every sandbox that asks for it gets a copy.
const MOST_INPUT: u64 = 32 << 20;

/// The plugin's input as JSON, from `--input`.
///
/// # Errors
/// If it is none.
pub fn of(given: Option<&str>) -> Result<String> {
    let Some(given) = given else { return Ok("null".to_owned()) };
    let text = match given.strip_prefix('@') {
        Some(file) => input_file(file).with_context(|| format!("--input {given}: the file cannot be read"))?,
        None => given.to_owned(),
    };
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| anyhow!("--input is not JSON ({error}); write it like '{{\"key\": \"value\"}}', or @FILE"))?;
    Ok(value.to_string())
}

// A pipe does as well as a file; a device that never ends is cut off.
fn input_file(file: &str) -> std::io::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(file)?.take(MOST_INPUT + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_INPUT {
        return Err(std::io::Error::other(format!(
            "it has more than {MOST_INPUT} bytes; give the plugin the name of a page instead"
        )));
    }
    Ok(text)
}
