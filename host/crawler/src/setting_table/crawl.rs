//! Settings of a crawl as a whole: what goes when, how often, for how long.

use super::{COUNT, COUNT_FROM_ONE, POSITIVE, Setting, TIME, limit, number, optional, positive, shown, some_time, unless_none};
use crate::settings::{ErrorSnapshots, PowerLoss, WhenFailed, WhenIdle};
use crate::units::duration;
use nephila_model::SiteBy;
use nephila_store::CrawlOrder;
use std::time::Duration;

/// More often nobody reads what is said, and each time the counters are read from the store.
const STATUS_INTERVAL: Duration = Duration::from_millis(100);

fn at_least(least: Duration, time: Duration) -> Result<Duration, String> {
    if time < least { Err(format!("is less than {} ms", least.as_millis())) } else { Ok(time) }
}

pub(super) const TABLE: &[Setting] = &[
    setting!("concurrency", POSITIVE, "Requests in flight at most (`-c`).", |s, v| s.concurrency = positive(v)?, |s| s
        .concurrency
        .to_string()),
    setting!(
        "min-concurrency",
        POSITIVE,
        "Requests in flight at least, whatever the load; not above concurrency (Crawlee: minConcurrency).",
        |s, v| s.min_concurrency = positive(v)?,
        |s| s.min_concurrency.to_string()
    ),
    setting!(
        "max-tasks-per-minute",
        COUNT_FROM_ONE,
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
        COUNT_FROM_ONE,
        "Items after which the crawl ends (`-n`); counted over all starts of the crawl.",
        |s, v| s.max_items = limit(v)?,
        |s| optional(s.max_items)
    ),
    setting!(
        "max-requests",
        COUNT_FROM_ONE,
        "Requests finished or failed after which the crawl ends (`--max-requests`); counted over all starts.",
        |s, v| s.max_requests = limit(v)?,
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
    setting!(
        "abort-on-error",
        "yes or no",
        "Whether the first request that fails for good ends the crawl; the same command goes on from there (Crawlee: abortOnError).",
        |s, v| s.when_failed = match v {
            "yes" | "true" => WhenFailed::Abort,
            "no" | "false" => WhenFailed::GoOn,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.when_failed {
            WhenFailed::Abort => "yes",
            WhenFailed::GoOn => "no",
        }
        .to_owned()
    ),
    setting!(
        "error-snapshots",
        "yes or no",
        "Whether the page of the first failure of each kind is kept in the default key-value store (Crawlee: saveErrorSnapshots).",
        |s, v| s.error_snapshots = match v {
            "yes" | "true" => ErrorSnapshots::FirstOfEachKind,
            "no" | "false" => ErrorSnapshots::None,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.error_snapshots {
            ErrorSnapshots::FirstOfEachKind => "yes",
            ErrorSnapshots::None => "no",
        }
        .to_owned()
    ),
    setting!(
        "shutdown-grace",
        TIME,
        "For pages in hand after the first Ctrl-C or SIGTERM, and for listeners that hear of the end.",
        |s, v| s.shutdown_grace = duration(v)?,
        |s| shown(s.shutdown_grace)
    ),
    setting!(
        "status-interval",
        "0.1 seconds or more, or a number with ms, s, m, h or d",
        "Between two status messages, in the log and as events (Crawlee: statusMessageLoggingInterval).",
        |s, v| s.status_interval = some_time(v).and_then(|time| at_least(STATUS_INTERVAL, time))?,
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
