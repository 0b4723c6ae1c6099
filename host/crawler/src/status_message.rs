//! The sentence that says how a crawl gets on (Crawlee: the default status message).
//!
//! Decision: where failures grow, the sentence names what fails, and how often since the last one; Crawlee means to, and never does, since
//! what it compares with is the same object. What a plugin says of itself stands before all that.

use nephila_model::{Counter, Statistics};
use nephila_store::Counts;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Kinds of errors that a sentence names.
const NAMED: usize = 3;

/// Makes the sentences of one crawl.
#[derive(Debug, Default)]
pub struct StatusMessages {
    failed: u64,
    errors: BTreeMap<String, u64>,
}

impl StatusMessages {
    /// For a crawl that has these counters already.
    pub fn starting_at(statistics: &Statistics) -> Self {
        Self { failed: statistics.get(&Counter::Failed), errors: errors(statistics) }
    }

    /// The next sentence.
    pub fn next(&mut self, counts: &Counts, statistics: &Statistics, concurrency: usize) -> String {
        let (failed, errors) = (statistics.get(&Counter::Failed), errors(statistics));
        let news = failed.saturating_sub(self.failed);
        let grown = grown(&self.errors, &errors);
        (self.failed, self.errors) = (failed, errors);

        let done = counts.handled + counts.failed + counts.skipped;
        let total = done + counts.pending;
        let mut text = String::new();
        if news > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "Experiencing problems: {news} failed {} since the last status", requests(news));
            if !grown.is_empty() {
                let _ = write!(text, " (errors: {})", grown.join(", "));
            }
            text.push_str("; crawled ");
        } else {
            text.push_str("Crawled ");
        }
        let _ = write!(text, "{done}/{total} pages, {failed} failed {}, desired concurrency {concurrency}", requests(failed));
        text
    }
}

const fn requests(count: u64) -> &'static str {
    if count == 1 { "request" } else { "requests" }
}

fn errors(statistics: &Statistics) -> BTreeMap<String, u64> {
    let of_errors = statistics.iter().filter_map(|(counter, count)| match counter {
        Counter::Error(code) => Some((code.clone(), count)),
        _ => None,
    });
    of_errors.collect()
}

// Which errors have become more, the most frequent first.
fn grown(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> Vec<String> {
    let news = now.iter().map(|(code, count)| (count.saturating_sub(before.get(code).copied().unwrap_or(0)), code));
    let mut news: Vec<_> = news.filter(|(count, _)| *count > 0).collect();
    news.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    news.into_iter().take(NAMED).map(|(count, code)| format!("{count} {code}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::StatsDelta;

    fn statistics(failed: i64, errors: &[(&str, i64)]) -> Statistics {
        let mut delta = StatsDelta::default();
        delta.add(Counter::Failed, failed);
        errors.iter().for_each(|(code, count)| delta.add(Counter::Error((*code).to_owned()), *count));
        Statistics::from_counters(delta.iter().map(|(counter, count)| (counter.clone(), count)))
    }

    #[test]
    fn it_names_what_fails_while_failures_grow_and_only_then() {
        let counts = Counts { pending: 5, handled: 3, failed: 1, skipped: 1 };
        let mut messages = StatusMessages::starting_at(&statistics(0, &[("timeout", 2)]));
        assert_eq!(
            messages.next(&counts, &statistics(1, &[("status", 7), ("timeout", 3), ("trap", 1), ("connect", 1)]), 16),
            "Experiencing problems: 1 failed request since the last status (errors: 7 status, 1 connect, 1 timeout); crawled 5/10 pages, \
             1 failed request, desired concurrency 16"
        );
        // Errors that are retried are no failures.
        assert_eq!(
            messages.next(&counts, &statistics(1, &[("status", 9), ("timeout", 3)]), 8),
            "Crawled 5/10 pages, 1 failed request, desired concurrency 8"
        );
    }
}
