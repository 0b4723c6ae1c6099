//! Further arguments of `nephila run`, which a person gives in one text.
//!
//! Decision: what the benchmark gives by itself for the sake of a comparison (how many in flight, no delay) gives way to what a person
//! says, which is why they say it; what it needs for its own work is refused, before anything runs.

use anyhow::{Result, bail};

/// Those that a run needs itself: its job is an empty folder, or the one that was filled.
const OWN: [&str; 3] = ["--job", "--resume", "--store"];

/// Splits a text at its white space.
///
/// # Errors
/// If it has one that the benchmark gives itself: one of its own for every run, or one of `others`.
pub fn nephila_arguments(text: Option<&str>, others: &[&str]) -> Result<Vec<String>> {
    let words: Vec<String> = text.into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect();
    for own in OWN.iter().chain(others) {
        if has(&words, own) {
            bail!("--nephila-args: {own} is the benchmark's own; leave it out");
        }
    }
    Ok(words)
}

/// What the benchmark gives by itself, without what is given.
pub(crate) fn usual(given: &[String]) -> Vec<&'static str> {
    let mut usual = Vec::new();
    for (names, words) in [
        (["-c", "--concurrency"].as_slice(), ["-c", "16"].as_slice()),
        (&["--delay"], &["--delay", "0"]),
        (&["--json"], &["--json"]),
    ] {
        let setting = names.last().map(|name| name.trim_start_matches('-'));
        if !names.iter().any(|name| has(given, name)) && !setting.is_some_and(|name| sets(given, name)) {
            usual.extend(words);
        }
    }
    usual
}

/// Whether an option is among the words, as any of `--name`, `--name=value`, `-n`, `-nvalue`.
fn has(words: &[String], name: &str) -> bool {
    words.iter().any(|word| match word.strip_prefix(name) {
        Some(rest) if name.starts_with("--") => rest.is_empty() || rest.starts_with('='),
        found => found.is_some(),
    })
}

/// Whether a setting is among the words, as `--set name=value`: on the command line an option of the same name would win.
fn sets(words: &[String], name: &str) -> bool {
    let set = |pair: &str| pair.split_once('=').is_some_and(|(key, _)| key == name);
    words.windows(2).any(|pair| pair[0] == "--set" && set(&pair[1]))
        || words.iter().filter_map(|word| word.strip_prefix("--set=")).any(set)
}

#[cfg(test)]
mod tests {
    use super::{nephila_arguments, usual};

    fn left(text: &str) -> String {
        usual(&nephila_arguments(Some(text), &[]).unwrap()).join(" ")
    }

    #[test]
    fn what_is_given_takes_the_place_of_what_is_usual() {
        assert_eq!(left(""), "-c 16 --delay 0 --json");
        assert_eq!(left("--set plugin-reuse=16 -v"), "-c 16 --delay 0 --json");
        for same in ["-c 500", "-c500", "--concurrency 500", "--concurrency=500", "--set concurrency=5", "--set=concurrency=5"] {
            assert_eq!(left(same), "--delay 0 --json", "{same}");
        }
        assert_eq!(left("--delay 1 --json"), "-c 16");
        assert_eq!(left("--set delay=1"), "-c 16 --json");
    }

    #[test]
    fn what_the_benchmark_needs_is_refused_by_name() {
        let refused = |text, others: &[&str]| nephila_arguments(Some(text), others).unwrap_err().to_string();
        assert!(refused("-v --job=x", &[]).contains("--job is the benchmark's own"));
        assert!(refused("--max-requests 5", &["--max-requests"]).contains("--max-requests"));
        assert_eq!(nephila_arguments(Some("--max-requests  5"), &[]).unwrap(), ["--max-requests", "5"]);
        assert!(nephila_arguments(None, &[]).unwrap().is_empty());
    }
}
