//! Items on their way: after the call that pushed them, before its commit.
//!
//! Decision: whatever call pushes items (a handler, `failure`, `finish`, a listener), they pass through the same pipelines in the operator's order,
//! and what these did belongs to the call: it is committed with it or not at all, what they saw of the state is verified with what it
//! saw, and if one fails, or rejects an item, the call has failed. Items that are left out are counted with the same commit.

use crate::call_cost::count_cost;
use crate::companion::Companion;
use crate::line::Line;
use nephila_model::{Counter, Effects, StatsDelta};
use nephila_plugin::{Call, CallReport, PipelineReport};
use std::sync::Arc;

/// What a call came to, once its items have passed: `report` is of that call, `call` what it was called with. What the pipelines
/// cost is added to `stats`, and what they left out, if the call stands.
pub async fn pass(line: &Line, call: &Call, report: CallReport, stats: &mut StatsDelta) -> CallReport {
    if report.ended.is_err() || report.effects.items.is_empty() {
        return report;
    }
    let CallReport { mut effects, session, metrics, .. } = report;
    let mut left_out = StatsDelta::default();
    for Companion { plugin, call_settings } in &line.pipelines {
        let mut call = Call { settings: Arc::clone(call_settings), ..call.clone() };
        call.earlier.extend(effects.state_ops.iter().cloned());
        let items = std::mem::take(&mut effects.items);
        let PipelineReport { report, dropped } = plugin.process(call, items).await;
        count_cost(line, stats, &report.metrics);
        effects = effects.then(report.effects);
        if let Err(failure) = report.ended {
            // What it saw may be why.
            let effects = Effects { refused: std::mem::take(&mut effects.refused), ..effects.only_reads() };
            return CallReport { effects, session, ended: Err(failure), metrics };
        }
        for (reason, count) in dropped {
            left_out.add(Counter::ItemsDropped(reason), i64::from(count));
        }
        if effects.items.is_empty() {
            break;
        }
    }
    stats.merge(&left_out);
    CallReport { effects, session, ended: Ok(()), metrics }
}
