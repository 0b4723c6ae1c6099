//! Settings of what a plugin may spend.

use super::{POSITIVE, SIZE, Setting, TIME, positive, shown, some_time};
use crate::units::size;

pub(super) const TABLE: &[Setting] = &[
    setting!(
        "plugin-memory",
        SIZE,
        "Of a plugin's sandbox.",
        |s, v| s.plugin_memory =
            size(v).and_then(|bytes| if bytes < 1 << 20 { Err("is less than 1MB".to_owned()) } else { Ok(bytes) })?,
        |s| s.plugin_memory.to_string()
    ),
    setting!("plugin-cpu", TIME, "Of processor time for one call of a plugin.", |s, v| s.plugin_cpu = some_time(v)?, |s| {
        shown(s.plugin_cpu)
    }),
    setting!("plugin-time", TIME, "For one call of a plugin, waiting included.", |s, v| s.plugin_time = some_time(v)?, |s| {
        shown(s.plugin_time)
    }),
    setting!(
        "query-timeout",
        TIME,
        "Of processor time for one query of a page (a selector, the parsing of a huge page).",
        |s, v| s.query_timeout = some_time(v)?,
        |s| shown(s.query_timeout)
    ),
    setting!(
        "plugin-reuse",
        POSITIVE,
        "Calls that one sandbox of a plugin serves; 1 is a fresh sandbox for every page.",
        |s, v| s.plugin_reuse = u32::try_from(positive(v)?).map_err(|_| "is too large".to_owned())?,
        |s| s.plugin_reuse.to_string()
    ),
    setting!(
        "plugin-reuse-memory",
        SIZE,
        "Of a sandbox after a call, above which it serves no other: scripts grow.",
        |s, v| s.plugin_reuse_memory = size(v)?,
        |s| s.plugin_reuse_memory.to_string()
    ),
    setting!(
        "max-state-value",
        SIZE,
        "Of one value of the state.",
        |s, v| s.max_state_value = usize::try_from(size(v)?).map_err(|_| "is too large".to_owned())?,
        |s| s.max_state_value.to_string()
    ),
];
