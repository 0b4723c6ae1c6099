//! What is refused, and what is said, of a crawl's sessions before it begins.
//!
//! Decision: what makes sessions says what they are, the limits or the plugin; both together are refused, since it would not be clear which
//! of them holds.

use crate::voice::note;
use anyhow::{Result, bail};
use nephila_crawler::{CrawlSettings, Sessions};
use nephila_plugin::Plugin;

/// Whether the crawl can have its sessions.
///
/// # Errors
/// What cannot work, with the way out.
pub fn check(settings: &CrawlSettings, plugin: &Plugin) -> Result<()> {
    let sessions = &settings.sessions;
    if sessions.used == Sessions::None {
        return Ok(());
    }
    if plugin.entry_points().sessions && sessions.has_limits() {
        bail!(
            "plugin {} makes its sessions itself (its entry point `sessions`), and limits of sessions were given too; leave out session-max-age, session-max-uses, session-max-error-score, session-error-score-decrement and session-blocked-statuses, or give session-pool=no",
            plugin.name()
        );
    }
    Ok(sessions.pool(Vec::new()).check()?)
}

/// Says so if the plugin makes sessions and none are used.
pub fn say_if_unused(settings: &CrawlSettings, plugin: &Plugin) {
    if settings.sessions.used == Sessions::None && plugin.entry_points().sessions {
        let name = plugin.name();
        note!(
            "plugin {name} makes sessions (its entry point `sessions`), and session-pool is off; give --set session-pool=yes to use them"
        );
    }
}
