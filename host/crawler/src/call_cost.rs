//! What a call of a plugin cost, where it is counted.

use crate::line::Line;
use nephila_model::{Counter, StatsDelta, Step};
use nephila_plugin::{CallMetrics, CallReport};

/// Counts what a call cost.
pub fn count_call(line: &Line, stats: &mut StatsDelta, report: &CallReport) {
    count_cost(line, stats, &report.metrics);
}

/// The same, of a call without a report.
pub fn count_cost(line: &Line, stats: &mut StatsDelta, metrics: &CallMetrics) {
    let CallMetrics { cpu, host, parse, .. } = *metrics;
    line.profile.add(Step::Parse, parse);
    line.profile.add(Step::HostCalls, host);
    line.profile.add(Step::Sandbox, cpu.saturating_sub(host).saturating_sub(parse));
    stats.add(Counter::PluginMicros, i64::try_from(cpu.as_micros()).unwrap_or(i64::MAX));
}
