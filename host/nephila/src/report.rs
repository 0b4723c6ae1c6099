//! The final statistics, as a table for people and as JSON for machines.
//!
//! Names are those of Crawlee's `FinalStatistics` where it has one.

use crate::progress_line::clock;
use crate::resources::Resources;
use crate::voice::one_line;
use nephila_crawler::CrawlReport;
use nephila_model::{Counter, Statistics, Step};
use nephila_store::{Counts, CrawlRecord, ErrorSample, StateExcerpt};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What is shown of a crawl, whether it has just ended or is looked at from outside.
pub struct Shown<'a> {
    /// The crawl.
    pub record: &'a CrawlRecord,
    /// READY, RUNNING, …
    pub status: &'a str,
    /// Why it ended; empty while it runs.
    pub finish_reason: &'a str,
    /// Requests by state.
    pub counts: Counts,
    /// Counters.
    pub statistics: &'a Statistics,
    /// Errors that requests failed for, with a sample each.
    pub errors: &'a [ErrorSample],
    /// Errors of attempts that were retried, with a sample each.
    pub retry_errors: &'a [ErrorSample],
    /// The beginning of its state.
    pub state: &'a StateExcerpt,
    /// What this start cost, and how much of its processor time was the plugin's. None for a crawl that is looked at from outside.
    pub cost: Option<(Resources, Duration)>,
}

impl<'a> Shown<'a> {
    /// A crawl that has just ended here.
    pub fn of_report(report: &'a CrawlReport, resources: Resources) -> Self {
        Self {
            record: &report.record,
            status: report.reason.status().as_str(),
            finish_reason: report.reason.code(),
            counts: report.counts,
            statistics: &report.statistics,
            errors: &report.errors,
            retry_errors: &report.retry_errors,
            state: &report.state,
            cost: Some((resources, report.plugin_cpu)),
        }
    }

    /// As one JSON object.
    pub fn json(&self) -> Value {
        let get = |counter| self.statistics.get(&counter);
        let runtime = get(Counter::RuntimeMillis);
        let mut object = json!({
            "crawlId": self.record.id,
            "crawlerId": self.record.crawler_id,
            "plugin": self.record.plugin_name,
            "pluginDigest": self.record.plugin_digest,
            "status": self.status,
            "finishReason": self.finish_reason,
            "requestsTotal": get(Counter::Requests),
            "requestsPending": self.counts.pending,
            "requestsFinished": get(Counter::Finished),
            "requestsFailed": get(Counter::Failed),
            "requestsSkipped": self.by(|counter| match counter { Counter::Skipped(reason) => Some(reason.clone()), _ => None }),
            "requestsRefused": self.by(|counter| match counter { Counter::Refused(reason) => Some(reason.clone()), _ => None }),
            "requestsRetries": get(Counter::Retries),
            "requestsSessionRotations": get(Counter::SessionRotations),
            "retryHistogram": self.retry_histogram(),
            "fetches": get(Counter::Fetches),
            "bodyBytes": get(Counter::BodyBytes),
            "items": get(Counter::Items),
            "itemsDropped": self.by(|counter| match counter { Counter::ItemsDropped(reason) => Some(reason.clone()), _ => None }),
            "itemsByDataset": self.by(|counter| match counter { Counter::ItemsOf(name) => Some(name.clone()), _ => None }),
            "statusCodes": self.by(|counter| match counter { Counter::Status(status) => Some(status.to_string()), _ => None }),
            "requestAvgFinishedDurationMillis": average(get(Counter::FinishedMillis), get(Counter::Finished)),
            "requestAvgFailedDurationMillis": average(get(Counter::FailedMillis), get(Counter::Failed)),
            "requestTotalDurationMillis": get(Counter::FinishedMillis) + get(Counter::FailedMillis),
            "requestMinDurationMillis": self.statistics.find(&Counter::LeastFinishedMillis),
            "requestMaxDurationMillis": self.statistics.find(&Counter::MostFinishedMillis),
            "requestsAttempts": self.statistics.attempts(),
            "requestAvgAttemptDurationMillis": average(self.statistics.attempt_millis(), self.statistics.attempts()),
            "requestTotalAttemptsDurationMillis": self.statistics.attempt_millis(),
            "requestsFinishedPerMinute": per_minute(get(Counter::Finished), runtime),
            "requestsFailedPerMinute": per_minute(get(Counter::Failed), runtime),
            "crawlerRuntimeMillis": runtime,
            "profileSeconds": self.profile(),
            "errors": self.errors,
            "retryErrors": self.retry_errors,
            "state": self.state(),
        });
        if self.state.left_out > 0
            && let Some(object) = object.as_object_mut()
        {
            object.insert("stateKeysLeftOut".into(), self.state.left_out.into());
        }
        if let (Some((resources, plugin)), Some(object)) = (self.cost, object.as_object_mut()) {
            let plugin = plugin.as_secs_f64().min(resources.cpu_seconds);
            object.insert("peakMemoryBytes".into(), resources.peak_memory_bytes.into());
            object.insert("cpuSeconds".into(), json!({ "process": resources.cpu_seconds, "plugin": plugin }));
        }
        for (name, said) in [("stopReason", &self.record.stop_reason), ("statusMessage", &self.record.status_message)] {
            if let (Some(said), Some(object)) = (said, object.as_object_mut()) {
                object.insert(name.into(), said.as_str().into());
            }
        }
        object
    }

    /// As a table.
    pub fn table(&self) -> String {
        let get = |counter| self.statistics.get(&counter);
        let runtime = get(Counter::RuntimeMillis);
        let mut rows: Vec<(&str, String)> = vec![
            (
                "status",
                if self.finish_reason.is_empty() {
                    self.status.to_owned()
                } else {
                    format!("{} ({})", self.status, self.finish_reason)
                },
            ),
            ("requests", format!("{} accepted, {} pending", get(Counter::Requests), self.counts.pending)),
            ("finished", get(Counter::Finished).to_string()),
            ("failed", get(Counter::Failed).to_string()),
        ];
        let listed = |of: Map<String, Value>| {
            of.iter().map(|(name, count)| format!("{count} {}", one_line(name))).collect::<Vec<_>>().join(", ")
        };
        let skipped = self.by(|counter| match counter {
            Counter::Skipped(reason) => Some(reason.clone()),
            _ => None,
        });
        let refused = self.by(|counter| match counter {
            Counter::Refused(reason) => Some(reason.clone()),
            _ => None,
        });
        if !skipped.is_empty() {
            rows.push(("skipped", listed(skipped)));
        }
        if !refused.is_empty() {
            rows.push(("refused", listed(refused)));
        }
        rows.push(("retries", format!("{} {:?}", get(Counter::Retries), self.retry_histogram())));
        if get(Counter::SessionRotations) > 0 {
            rows.push(("sessions", format!("{} rotations, where a site blocked one", get(Counter::SessionRotations))));
        }
        rows.push(("items", get(Counter::Items).to_string()));
        for (name, count) in self.by(|counter| match counter {
            Counter::ItemsOf(name) => Some(name.clone()),
            _ => None,
        }) {
            rows.push(("", format!("{count} in dataset {}", one_line(&name))));
        }
        let dropped = self.by(|counter| match counter {
            Counter::ItemsDropped(reason) => Some(reason.clone()),
            _ => None,
        });
        if !dropped.is_empty() {
            rows.push(("dropped", listed(dropped)));
        }
        rows.push(("fetches", format!("{}, {:.1} MB", get(Counter::Fetches), get(Counter::BodyBytes) as f64 / 1e6)));
        rows.push(("average", self.average_text()));
        let (attempts, ended) = (self.statistics.attempts(), get(Counter::Finished) + get(Counter::Failed));
        if attempts > ended {
            let average = short(Duration::from_millis(self.statistics.attempt_millis() / attempts));
            rows.push(("attempts", format!("{attempts}, {average} on average")));
        }
        rows.push((
            "runtime",
            format!(
                "{}, {} finished a minute",
                if runtime < 1_000 { short(Duration::from_millis(runtime)) } else { clock(Duration::from_millis(runtime)) },
                per_minute(get(Counter::Finished), runtime)
            ),
        ));
        rows.push(("profile", self.profile_text()));
        if let Some((resources, plugin)) = self.cost {
            let plugin = plugin.as_secs_f64().min(resources.cpu_seconds);
            rows.push((
                "cost",
                format!(
                    "{} of CPU ({} in the plugin), {} MB at most",
                    short(Duration::from_secs_f64(resources.cpu_seconds)),
                    short(Duration::from_secs_f64(plugin)),
                    resources.peak_memory_bytes >> 20
                ),
            ));
        }
        let mut table: String = rows.iter().map(|(name, value)| format!("  {name:<9} {value}\n")).collect();
        for (name, said) in [("stopped", &self.record.stop_reason), ("message", &self.record.status_message)] {
            if let Some(said) = said {
                table.push_str(&format!("  {name:<9} {}\n", one_line(said)));
            }
        }
        for (name, errors) in [("error", self.errors), ("retried", self.retry_errors)] {
            for error in errors {
                let page = error.snapshot.as_ref().map(|key| format!(", its page is {key}")).unwrap_or_default();
                let message = one_line(&error.message);
                table.push_str(&format!("  {name:<9} {} × {}: {message} ({}{page})\n", error.count, error.code, error.url));
            }
        }
        table
    }

    // Values are JSON, as it was checked when they were written.
    fn state(&self) -> Map<String, Value> {
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        self.state.values.iter().map(|(key, text)| (key.clone(), value(text))).collect()
    }

    fn average_text(&self) -> String {
        let text = average_text(self.statistics.get(&Counter::FinishedMillis), self.statistics.get(&Counter::Finished));
        let found = [Counter::LeastFinishedMillis, Counter::MostFinishedMillis].map(|counter| self.statistics.find(&counter));
        match found {
            [Some(least), Some(most)] => format!("{text}, {least} to {most} ms"),
            _ => text,
        }
    }

    // Each step's seconds over all requests; fetches wait side by side, so that theirs may be many times the running time.
    fn profile(&self) -> Map<String, Value> {
        let seconds = |step| self.statistics.get(&Counter::StepMicros(step)) as f64 / 1e6;
        Step::ALL.into_iter().map(|step| (camel_case(step.name()), json!(seconds(step)))).collect()
    }

    fn profile_text(&self) -> String {
        let shown = |step: Step| {
            let micros = self.statistics.get(&Counter::StepMicros(step));
            format!("{} {}", step.name().replace('-', " "), short(Duration::from_micros(micros)))
        };
        Step::ALL.map(shown).join(", ")
    }

    fn by(&self, name: impl Fn(&Counter) -> Option<String>) -> Map<String, Value> {
        self.statistics
            .iter()
            .filter(|(_, count)| *count > 0)
            .filter_map(|(counter, count)| Some((name(counter)?, count.into())))
            .collect()
    }

    // As in Crawlee: the number at index n counts the requests that ended after n retries.
    fn retry_histogram(&self) -> Vec<u64> {
        let mut histogram = Vec::new();
        for (counter, count) in self.statistics.iter() {
            if let Counter::EndedAfterRetries(retries) = counter
                && let Ok(index) = usize::try_from(*retries)
                && index < 1_000
            {
                histogram.resize(histogram.len().max(index + 1), 0);
                histogram[index] = count;
            }
        }
        histogram
    }
}

/// A length of time that may be short: three digits of milliseconds below a second.
fn short(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    match millis {
        0.0 => "0 ms".to_owned(),
        ..9.995 => format!("{millis:.2} ms"),
        ..99.95 => format!("{millis:.1} ms"),
        ..999.5 => format!("{millis:.0} ms"),
        _ => format!("{:.1} s", millis / 1e3),
    }
}

/// The mean of whole milliseconds: less than one of them says no more than that.
fn average_text(millis: u64, pages: u64) -> String {
    match pages {
        0 => "-".to_owned(),
        _ if millis < pages => "under 1 ms a page".to_owned(),
        _ => format!("{} ms a page", millis / pages),
    }
}

// Names in JSON are written as Crawlee's are.
fn camel_case(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut so_far, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        so_far.push_str(&initial.to_ascii_uppercase());
        so_far.push_str(rest);
        so_far
    })
}

fn average(total: u64, count: u64) -> Option<u64> {
    (count > 0).then(|| total / count)
}

fn per_minute(count: u64, runtime_millis: u64) -> u64 {
    (count * 60_000).checked_div(runtime_millis).unwrap_or(0)
}

#[cfg(test)]
mod tests;
