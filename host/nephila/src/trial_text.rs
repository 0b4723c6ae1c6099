//! What came of a trial, as a person reads it.

use nephila_plugin::CallMetrics;
use nephila_trial::Seen;
use serde_json::Value;
use std::fmt::Write as _;

/// Everything that a call came to; not what it cost.
pub fn shown(seen: &Seen) -> String {
    let mut text = String::new();
    let mut block = |title: &str, rows: Vec<String>| {
        if !rows.is_empty() {
            let _ = writeln!(text, "{title} ({})", rows.len());
            for row in rows {
                let _ = writeln!(text, "  {row}");
            }
        }
    };
    let pairs =
        |map: &std::collections::BTreeMap<String, Value>| map.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    block("items", seen.items.iter().map(ToString::to_string).collect());
    for (name, items) in &seen.datasets {
        block(&format!("items of dataset {name}"), items.iter().map(ToString::to_string).collect());
    }
    block("items dropped by its pipeline", seen.dropped.iter().map(|(reason, count)| format!("{reason}: {count}")).collect());
    block("requests", seen.requests.iter().map(request).collect());
    block("refused requests", seen.refused.iter().map(|(reason, count)| format!("{reason}: {count}")).collect());
    block("state", pairs(&seen.state));
    block("auto-saved values", pairs(&seen.auto_saved));
    let value = |(key, value): (&String, &Option<nephila_trial::KeptValue>)| match value {
        Some(value) => format!("{key} = {} ({})", value.value, value.content_type.as_deref().unwrap_or("application/json")),
        None => format!("{key} removed"),
    };
    block("key-value store", seen.key_values.iter().map(value).collect());
    block("events", seen.events.iter().map(ToString::to_string).collect());
    block("session", seen.session.iter().map(|(name, value)| format!("{name} = {value}")).collect());
    block("stops the crawl", seen.stop.iter().cloned().collect());
    block("status message", seen.status_message.iter().cloned().collect());
    if let Some(error) = &seen.error {
        let word = |name: &str| error[name].as_str().unwrap_or_default();
        let _ = writeln!(text, "failed ({}, {}): {}", word("code"), word("ending"), word("message"));
        for frame in &seen.backtrace {
            let _ = writeln!(text, "  at {frame}");
        }
    }
    if text.is_empty() {
        text.push_str("nothing: no items, no requests, no state\n");
    }
    text
}

/// What it cost, in one line.
pub fn cost(cost: &CallMetrics) -> String {
    format!("cost: {}, {} host calls, {} log lines\n", spent(cost), cost.host_calls, cost.log_lines)
}

/// Processor time, fuel and memory.
pub fn spent(cost: &CallMetrics) -> String {
    let fuel = cost.fuel.map(|fuel| format!("fuel {}, ", grouped(fuel))).unwrap_or_default();
    let millis = cost.cpu.as_secs_f64() * 1_000.0;
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let memory = cost.memory_peak as f64 / f64::from(1_u32 << 20);
    format!("cpu {millis:.1} ms, {fuel}memory {memory:.1} MiB")
}

fn request(request: &Value) -> String {
    let url = request["url"].as_str().unwrap_or_default().to_owned();
    let rest = request.as_object().into_iter().flatten().filter(|(name, _)| *name != "url");
    rest.fold(url, |line, (name, value)| format!("{line}  {name}={value}"))
}

/// With a comma at each thousand.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([7, 1_000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
    }
}
