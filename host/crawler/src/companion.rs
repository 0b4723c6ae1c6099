//! Plugins that take part in another one's crawl.

use nephila_plugin::{CallSettings, Plugin};
use std::sync::Arc;

/// A plugin that hears a crawl's events, or looks at its items; the crawl's own plugin is the first of each.
#[derive(Debug, Clone)]
pub struct Companion {
    /// The plugin.
    pub plugin: Arc<Plugin>,
    /// What all calls of it have in common: its limits are its own.
    pub call_settings: Arc<CallSettings>,
}
