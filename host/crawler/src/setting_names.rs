//! What settings are called, and how a text becomes one.
//!
//! Decision: one table ([`TABLE`]) is the only place that knows a setting's name; `--set`, the options of the command line, a plugin's
//! manifest and docs/settings.md all go through it. Later layers win: built-in, plugin's manifest, command line.

use crate::settings::{CrawlSettings, PowerLoss, WhenIdle};
use crate::units::{duration, size};
use nephila_model::SiteBy;
use nephila_store::CrawlOrder;
use std::time::Duration;

/// What a plugin's memory can be raised to by its manifest.
pub const MANIFEST_MEMORY: u64 = 512 << 20;

/// A setting as people know it.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its unit, and what values it takes.
    pub takes: &'static str,
    /// What it does.
    pub about: &'static str,
    set: fn(&mut CrawlSettings, &str) -> Result<(), String>,
    show: fn(&CrawlSettings) -> String,
}

/// Why a setting was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No such name.
    #[error("there is no setting `{name}`{}; docs/settings.md lists them all", .near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default())]
    Unknown {
        /// What was given.
        name: String,
        /// The nearest name, if one is near.
        near: Option<&'static str>,
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

impl CrawlSettings {
    /// Sets one setting from text.
    ///
    /// # Errors
    /// [`SettingError`] says what it would take.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let Some(setting) = TABLE.iter().find(|setting| setting.name == name) else {
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
            "user-agent" | "durability" | "max-sockets" | "slow-after" | "shutdown-grace" | "migration-grace"
            | "plugin-reuse" => true,
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
        TABLE.iter().find(|setting| setting.name == name).map(|setting| (setting.show)(self))
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let folded = name.replace('_', "-").to_ascii_lowercase();
    TABLE
        .iter()
        .map(|setting| (distance(&folded, setting.name), setting.name))
        .min()
        .filter(|(far, _)| *far <= 3)
        .map(|(_, name)| name)
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

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| "is not such a number".to_owned())
}

fn positive(value: &str) -> Result<usize, String> {
    match number(value)? {
        0 => Err("is too small".to_owned()),
        n if n > 65_536 => Err("is more than 65536".to_owned()),
        n => Ok(n),
    }
}

fn some_time(value: &str) -> Result<Duration, String> {
    match duration(value)? {
        Duration::ZERO => Err("leaves no time".to_owned()),
        time => Ok(time),
    }
}

fn unless_none<T>(value: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "none" { Ok(None) } else { parse(value).map(Some) }
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn shown(duration: Duration) -> String {
    format!("{}", duration.as_secs_f64())
}

const TIME: &str = "seconds, or a number with ms, s, m, h or d";
const SIZE: &str = "bytes, or a number with KB, MB or GB (powers of 1,024)";
const COUNT: &str = "a whole number, or none";

macro_rules! setting {
    ($name:literal, $takes:expr, $about:literal, |$s:ident, $v:ident| $set:expr, |$r:ident| $show:expr) => {
        Setting {
            name: $name,
            takes: $takes,
            about: $about,
            set: |$s, $v| {
                $set;
                Ok(())
            },
            show: |$r| $show,
        }
    };
}

/// Every setting, in the order of docs/settings.md.
pub const TABLE: &[Setting] = &[
    setting!(
        "concurrency",
        "a whole number from 1",
        "Requests in flight at most (`-c`).",
        |s, v| s.concurrency = positive(v)?,
        |s| s.concurrency.to_string()
    ),
    setting!(
        "min-concurrency",
        "a whole number from 1",
        "Requests in flight at least, whatever the load; not above concurrency (Crawlee: minConcurrency).",
        |s, v| s.min_concurrency = positive(v)?,
        |s| s.min_concurrency.to_string()
    ),
    setting!(
        "max-tasks-per-minute",
        "a whole number from 1, or none",
        "Requests begun in a minute at most (Crawlee: maxTasksPerMinute).",
        |s, v| s.max_tasks_per_minute = unless_none(v, number)?,
        |s| optional(s.max_tasks_per_minute)
    ),
    setting!(
        "delay",
        TIME,
        "Between the starts of two requests to one site (`--delay`; Scrapy: DOWNLOAD_DELAY).",
        |s, v| s.delay = duration(v)?,
        |s| shown(s.delay)
    ),
    setting!(
        "site",
        "hostname or domain",
        "What is one site: each hostname, or each registered domain. Fixed for a job.",
        |s, v| s.site_by = match v {
            "hostname" => SiteBy::Hostname,
            "domain" => SiteBy::Domain,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.site_by {
            SiteBy::Hostname => "hostname",
            SiteBy::Domain => "domain",
        }
        .to_owned()
    ),
    setting!(
        "order",
        "fifo or lifo",
        "Among requests of one site and priority: first in first out (breadth first), or last in first out.",
        |s, v| s.order = match v {
            "fifo" => CrawlOrder::Fifo,
            "lifo" => CrawlOrder::Lifo,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.order {
            CrawlOrder::Fifo => "fifo",
            CrawlOrder::Lifo => "lifo",
        }
        .to_owned()
    ),
    setting!(
        "max-retries",
        "a whole number",
        "Retries of a request at most (Crawlee: maxRequestRetries).",
        |s, v| s.max_retries = number(v)?,
        |s| s.max_retries.to_string()
    ),
    setting!(
        "retry-delay",
        TIME,
        "Before the first retry; doubled for each further one, with jitter.",
        |s, v| s.retry_delay = duration(v)?,
        |s| shown(s.retry_delay)
    ),
    setting!("max-retry-delay", TIME, "Between two tries at most.", |s, v| s.max_retry_delay = duration(v)?, |s| shown(
        s.max_retry_delay
    )),
    setting!(
        "max-redirects",
        "a whole number",
        "Redirects followed for one request at most, meta refreshes included.",
        |s, v| s.max_redirects = number(v)?,
        |s| s.max_redirects.to_string()
    ),
    setting!(
        "max-depth",
        COUNT,
        "Links between a start URL and a request at most (`--max-depth`).",
        |s, v| s.max_depth = unless_none(v, number)?,
        |s| optional(s.max_depth)
    ),
    setting!(
        "max-items",
        COUNT,
        "Items after which the crawl ends (`-n`); counted over all starts of the crawl.",
        |s, v| s.max_items = unless_none(v, number)?,
        |s| optional(s.max_items)
    ),
    setting!(
        "max-requests",
        COUNT,
        "Requests finished or failed after which the crawl ends (`--max-requests`); counted over all starts.",
        |s, v| s.max_requests = unless_none(v, number)?,
        |s| optional(s.max_requests)
    ),
    setting!(
        "max-time",
        "a length of time, or none",
        "How long this start of the crawl runs at most (`--max-time`).",
        |s, v| s.max_time = unless_none(v, duration)?,
        |s| optional(s.max_time.map(|t| t.as_secs_f64()))
    ),
    setting!(
        "max-failed-ratio",
        "a number from 0 to 1",
        "Share of failed requests above which the exit code is 1.",
        |s, v| {
            let ratio: f64 = number(v)?;
            if !(0.0..=1.0).contains(&ratio) {
                return Err("is outside".to_owned());
            }
            s.max_failed_ratio = ratio;
        },
        |s| s.max_failed_ratio.to_string()
    ),
    setting!("request-timeout", TIME, "For one fetch as a whole.", |s, v| s.request_timeout = some_time(v)?, |s| shown(
        s.request_timeout
    )),
    setting!("connect-timeout", TIME, "For a connection to be made.", |s, v| s.connect_timeout = some_time(v)?, |s| shown(
        s.connect_timeout
    )),
    setting!("read-timeout", TIME, "Without a byte from the server.", |s, v| s.read_timeout = some_time(v)?, |s| shown(
        s.read_timeout
    )),
    setting!(
        "max-body-size",
        SIZE,
        "Of a decompressed body; a larger page is skipped as too-large.",
        |s, v| s.max_body_size =
            size(v).and_then(|bytes| if bytes == 0 { Err("leaves no room".to_owned()) } else { Ok(bytes) })?,
        |s| s.max_body_size.to_string()
    ),
    setting!("max-url-length", "bytes", "A longer URL is refused.", |s, v| s.max_url_length = positive(v)?, |s| s
        .max_url_length
        .to_string()),
    setting!(
        "slow-after",
        TIME,
        "After which a request that waits for its site no longer counts against concurrency.",
        |s, v| s.slow_after = duration(v)?,
        |s| shown(s.slow_after)
    ),
    setting!(
        "max-sockets",
        "a whole number from 1",
        "Requests in flight at most, slow ones included.",
        |s, v| s.max_sockets = positive(v)?,
        |s| s.max_sockets.to_string()
    ),
    setting!(
        "shutdown-grace",
        TIME,
        "For pages in hand after the first Ctrl-C or SIGTERM.",
        |s, v| s.shutdown_grace = duration(v)?,
        |s| shown(s.shutdown_grace)
    ),
    setting!(
        "status-interval",
        TIME,
        "Between two status messages, in the log and as events (Crawlee: statusMessageLoggingInterval).",
        |s, v| s.status_interval = some_time(v)?,
        |s| shown(s.status_interval)
    ),
    setting!(
        "migration-grace",
        "a length of time, or none",
        "Left after SIGTERM before the process is killed and goes on elsewhere; then listeners hear `migrating`.",
        |s, v| s.migration_grace = unless_none(v, duration)?,
        |s| optional(s.migration_grace.map(|time| time.as_secs_f64()))
    ),
    setting!(
        "user-agent",
        "text",
        "What the host calls itself.",
        |s, v| {
            if v.is_empty() || !v.bytes().all(|b| (0x20..0x7f).contains(&b)) {
                return Err("cannot stand in a header".to_owned());
            }
            s.user_agent = v.to_owned();
        },
        |s| s.user_agent.clone()
    ),
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
        "a whole number from 1",
        "Calls that one sandbox serves; 1 is a fresh sandbox for every page.",
        |s, v| s.plugin_reuse = u32::try_from(positive(v)?).map_err(|_| "is too large".to_owned())?,
        |s| s.plugin_reuse.to_string()
    ),
    setting!(
        "max-state-value",
        SIZE,
        "Of one value of the state.",
        |s, v| s.max_state_value = usize::try_from(size(v)?).map_err(|_| "is too large".to_owned())?,
        |s| s.max_state_value.to_string()
    ),
    setting!(
        "keep-alive",
        "yes or no",
        "Whether the crawl waits when its queue is empty, until it is stopped or reaches a limit (Crawlee: keepAlive).",
        |s, v| s.when_idle = match v {
            "yes" | "true" => WhenIdle::Wait,
            "no" | "false" => WhenIdle::Finish,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.when_idle {
            WhenIdle::Wait => "yes",
            WhenIdle::Finish => "no",
        }
        .to_owned()
    ),
    setting!(
        "durability",
        "kill or power-loss",
        "What a commit survives: the end of the process, or loss of power too (slower).",
        |s, v| s.power_loss = match v {
            "kill" => PowerLoss::Ignored,
            "power-loss" => PowerLoss::Survived,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.power_loss {
            PowerLoss::Ignored => "kill",
            PowerLoss::Survived => "power-loss",
        }
        .to_owned()
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reads_what_it_shows() {
        for setting in TABLE {
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
    fn the_settings_page_lists_every_setting_with_its_default() {
        let page = include_str!("../../../docs/settings.md");
        for setting in TABLE {
            let default = CrawlSettings::default().show(setting.name).expect("a setting");
            let row = format!("| `{}` | {} | {} | {} |", setting.name, default, setting.takes, setting.about);
            assert!(page.contains(&row), "docs/settings.md lacks this row:\n{row}");
        }
    }
}
