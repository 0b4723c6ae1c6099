//! What settings are called, and how a text becomes one.
//!
//! Decision: one list ([`all`]) is the only place that knows a setting's name; `--set`, the options of the command line, a plugin's
//! manifest and docs/settings.md all go through it. Later layers win: built-in, plugin's manifest, command line.

use crate::foreign_names::{ForeignName, Ours, look_up};
use crate::setting_table::all;
use crate::settings::CrawlSettings;
use std::fmt;
use std::time::Duration;

/// What a plugin's memory can be raised to by its manifest.
pub const MANIFEST_MEMORY: u64 = 512 << 20;

/// Why a setting was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No such name.
    #[error(
        "there is no setting `{name}`{}docs/settings.md lists them all",
        .near.map_or_else(|| "; ".to_owned(), |near| format!(": {near} "))
    )]
    Unknown {
        /// What was given.
        name: String,
        /// What may be meant.
        near: Option<Near>,
    },
    /// A plugin asks for what only the operator may give.
    #[error("setting {name}: a plugin may not ask for `{value}`; if you trust it, give --set {name}={value} yourself")]
    NotByManifest {
        /// The setting.
        name: String,
        /// What was asked for.
        value: String,
    },
    /// The value does not fit.
    #[error("setting {name}: `{value}` {cause}; it takes {takes}")]
    Value {
        /// The setting.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is wrong.
        cause: String,
        /// What would be right.
        takes: &'static str,
    },
}

/// What is meant, perhaps; shown as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// A setting whose name is much like it.
    Name(&'static str),
    /// What is called so elsewhere.
    Foreign(ForeignName),
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "did you mean `{name}`?"),
            Self::Foreign(foreign) => match foreign.ours {
                Ours::Setting(name) => write!(f, "did you mean `{name}` ({foreign})?"),
                Ours::Instead(words) => write!(f, "{foreign} is {words};"),
                Ours::NotYet(words) => write!(f, "{foreign} is not here yet; {words};"),
            },
        }
    }
}

impl CrawlSettings {
    /// Sets one setting from text.
    ///
    /// # Errors
    /// [`SettingError`] says what it would take.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let Some(setting) = all().find(|setting| setting.name == name) else {
            return Err(SettingError::Unknown { name: name.to_owned(), near: nearest(name) });
        };
        (setting.set)(self, value.trim()).map_err(|cause| SettingError::Value {
            name: setting.name,
            value: value.to_owned(),
            cause,
            takes: setting.takes,
        })
    }

    /// Sets a plugin's default from its manifest. A plugin may ask for more politeness than is usual, not for less, and for no more of the
    /// machine than anybody gets who asks; beyond that only the operator can go.
    ///
    /// # Errors
    /// [`SettingError`] says what it would take, or how the operator can allow it.
    pub fn set_by_manifest(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let mut asked = self.clone();
        asked.set(name, value)?;
        let usual = Self::default();
        let refused = match name {
            "user-agent"
            | "durability"
            | "max-sockets"
            | "slow-after"
            | "shutdown-grace"
            | "migration-grace"
            | "plugin-reuse"
            | "plugin-reuse-memory" => true,
            // The sessions of other crawls, with their cookies.
            "session-store" => true,
            "session-max-pool-size" => asked.sessions.max_pool_size > usual.sessions.max_pool_size,
            "max-session-rotations" => asked.sessions.max_rotations > usual.sessions.max_rotations,
            "min-concurrency" => asked.min_concurrency > usual.min_concurrency,
            "delay" => asked.delay < usual.delay,
            "concurrency" => asked.concurrency > usual.concurrency,
            "max-retries" => asked.max_retries > 10,
            "retry-delay" => asked.retry_delay < usual.retry_delay,
            "max-body-size" => asked.max_body_size > 128 << 20,
            "max-state-value" => asked.max_state_value > 4 << 20,
            "plugin-memory" => asked.plugin_memory > MANIFEST_MEMORY,
            "plugin-cpu" => asked.plugin_cpu > Duration::from_secs(120),
            "plugin-time" => asked.plugin_time > Duration::from_secs(600),
            "query-timeout" => asked.query_timeout > Duration::from_secs(10),
            _ => false,
        };
        if refused {
            return Err(SettingError::NotByManifest { name: name.to_owned(), value: value.to_owned() });
        }
        *self = asked;
        Ok(())
    }

    /// A setting's value as text; `None` if there is no such setting.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<String> {
        all().find(|setting| setting.name == name).map(|setting| (setting.show)(self))
    }
}

// A name of ours in other spelling, then one that others have, then one that is much like it.
fn nearest(name: &str) -> Option<Near> {
    let folded = name.replace('_', "-").to_ascii_lowercase();
    let (far, nearest) = all().map(|setting| (distance(&folded, setting.name), setting.name)).min()?;
    match look_up(name) {
        Some(foreign) if far > 0 => Some(Near::Foreign(foreign)),
        _ => (far <= 3).then_some(Near::Name(nearest)),
    }
}

// Levenshtein's distance; names are short.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reads_what_it_shows() {
        for setting in all() {
            let mut settings = CrawlSettings::default();
            let shown = settings.show(setting.name).expect("a setting");
            settings.set(setting.name, &shown).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(settings, CrawlSettings::default(), "{}", setting.name);
        }
    }

    #[test]
    fn values_that_do_not_fit_say_what_would() {
        let mut settings = CrawlSettings::default();
        let error = settings.set("max_retry", "3").expect_err("no such setting").to_string();
        assert!(error.contains("did you mean `max-retries`"), "{error}");
        for (name, words) in [
            ("maxRequestsPerCrawl", "did you mean `max-requests` (Crawlee's maxRequestsPerCrawl)?"),
            ("max_requests_per_crawl", "did you mean `max-requests` (Crawlee's maxRequestsPerCrawl)?"),
            ("CONCURRENT_REQUESTS", "did you mean `concurrency` (Scrapy's CONCURRENT_REQUESTS)?"),
            ("DOWNLOAD_DELAY", "did you mean `delay` (Scrapy's DOWNLOAD_DELAY)?"),
            ("keep_alive", "did you mean `keep-alive`? docs/settings.md lists"),
            ("JOBDIR", ": Scrapy's JOBDIR is the option `--job DIR`; docs/settings.md lists"),
            ("FEEDS", "the option `-o FILE.jsonl`"),
            ("ITEM_PIPELINES", "`--pipeline PLUGIN`"),
            ("LOG_LEVEL", "NEPHILA_LOG=debug"),
            ("purge_on_start", "Crawlee's purgeOnStart is how every run without `--job` begins"),
            ("proxyConfiguration", "Crawlee's proxyConfiguration is not here yet;"),
            ("respect_robots_txt_file", "is not here yet;"),
            ("ignore_http_error_status_codes", "accepted statuses of a request"),
        ] {
            let error = settings.set(name, "3").expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = settings.set("something-else-entirely", "3").expect_err("no such setting").to_string();
        assert_eq!(error, "there is no setting `something-else-entirely`; docs/settings.md lists them all");
        for name in ["max-items", "max-requests"] {
            let error = settings.set(name, "0").expect_err("nothing would be crawled").to_string();
            assert!(error.contains("leave it out for no limit") && error.contains("from 1, or none"), "{error}");
            settings.set(name, "none").expect("no limit");
        }
        let error = settings.set("status-interval", "50ms").expect_err("too often").to_string();
        assert!(error.contains("0.1 seconds or more"), "{error}");
        settings.set("status-interval", "250ms").expect("quicker than a second");
        let error = settings.set("concurrency", "0").expect_err("too small").to_string();
        assert!(error.contains("a whole number from 1"), "{error}");
        assert!(settings.set("delay", "-1").is_err() && settings.set("delay", "1e300").is_err());
        assert!(settings.set("delay", "NaN").is_err() && settings.set("max-failed-ratio", "NaN").is_err());
        assert!(settings.set("plugin-memory", "99999999999 GB").is_err());
        assert!(settings.set("concurrency", "9000000000000000000").is_err());
    }

    #[test]
    fn a_manifest_may_be_more_polite_and_not_less() {
        let mut settings = CrawlSettings::default();
        settings.set_by_manifest("delay", "5").expect("more polite");
        settings.set_by_manifest("plugin-cpu", "60").expect("within what may be asked for");
        for (name, value) in [("delay", "0"), ("concurrency", "500"), ("user-agent", "Mozilla"), ("plugin-memory", "4GB")] {
            let error = settings.set_by_manifest(name, value).expect_err(name).to_string();
            assert!(error.contains(&format!("--set {name}={value}")), "{error}");
        }
        assert_eq!(settings.delay, Duration::from_secs(5));
    }

    #[test]
    fn limits_of_sessions_are_read_and_what_is_other_crawls_is_not_a_manifests_to_ask_for() {
        let mut settings = CrawlSettings::default();
        settings.set("session-max-uses", "50").expect("the default");
        assert!(!settings.sessions.has_limits(), "what is as usual is no limit that was given");
        settings.set_by_manifest("session-blocked-statuses", "403, 503").expect("statuses");
        assert_eq!(settings.show("session-blocked-statuses").as_deref(), Some("403,503"));
        assert!(settings.sessions.has_limits());
        settings.set("session-blocked-statuses", "none").expect("none");
        assert!(settings.sessions.limits.blocked_status_codes.is_empty());
        settings.set("session-block-text", " Are you human? |captcha").expect("texts");
        assert_eq!(settings.show("session-block-text").as_deref(), Some("Are you human? | captcha"));
        settings.set("session-block-selectors", "#challenge, iframe[src*=captcha]").expect("selectors");
        for (name, bad) in [
            ("session-block-text", "a || b"),
            ("session-retire-text", ""),
            ("session-block-selectors", "p[["),
            ("session-blocked-statuses", "200"),
            ("session-max-error-score", "0"),
            ("session-error-score-decrement", "inf"),
            ("session-store", "a/b"),
            ("session-store", ".."),
            ("session-key", "."),
            ("session-reuse", "some"),
        ] {
            assert!(settings.set(name, bad).is_err(), "{name} {bad}");
        }
        for (name, bad, words) in [
            ("session-max-age", "0", "leaves no time"),
            ("session-max-age", "0.9ms", "no whole millisecond"),
            ("session-max-uses", "70000", "from 1 to 65,536"),
            ("session-max-pool-size", "65537", "from 1 to 65,536"),
            ("session-store", "default", "`none`"),
            ("session-key", "INPUT", "take another"),
            ("session-key", "CRAWLEE_STATE_books", "take another"),
            ("session-key", "__CRAWLER_STATISTICS_books", "take another"),
            ("session-key", "ERROR_SNAPSHOT_0123", "take another"),
        ] {
            let refused = settings.set(name, bad).expect_err(bad).to_string();
            assert!(refused.contains(words) && refused.contains(name), "{refused}");
        }
        settings.set("session-max-age", "1ms").expect("as short as can be");
        settings.set("session-key", "visitors").expect("a key");
        for (name, value) in [("session-store", "shared"), ("max-session-rotations", "11"), ("session-max-pool-size", "1001")] {
            settings.set_by_manifest(name, value).expect_err(name);
            settings.set(name, value).expect("the operator may");
        }
    }

    #[test]
    fn the_settings_page_lists_every_setting_with_its_default() {
        let page = include_str!("../../../docs/settings.md");
        for setting in all() {
            let default = CrawlSettings::default().show(setting.name).expect("a setting");
            let row = format!("| `{}` | {} | {} | {} |", setting.name, default, setting.takes, setting.about);
            assert!(page.contains(&row), "docs/settings.md lacks this row:\n{row}");
        }
    }
}
