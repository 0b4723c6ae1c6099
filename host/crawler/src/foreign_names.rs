//! What settings are called in Crawlee and in Scrapy, for who has those names in mind.
//!
//! Decision: they are hints, and no names of ours: a setting has one name. Crawlee's are looked for in both of its spellings, and
//! whatever the letters' case and the signs between words.

use std::fmt;

/// Whose name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Crawlee's, of JavaScript and Python.
    Crawlee,
    /// Scrapy's.
    Scrapy,
}

/// The setting that a name means elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignName {
    /// What it is called here.
    pub ours: &'static str,
    /// What it is called there.
    pub theirs: &'static str,
    /// Where.
    pub whose: Whose,
}

impl fmt::Display for ForeignName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.whose {
            Whose::Crawlee => "Crawlee's",
            Whose::Scrapy => "Scrapy's",
        };
        write!(f, "{whose} {}", self.theirs)
    }
}

const fn crawlee(theirs: &'static str, ours: &'static str) -> ForeignName {
    ForeignName { ours, theirs, whose: Whose::Crawlee }
}

const fn scrapy(theirs: &'static str, ours: &'static str) -> ForeignName {
    ForeignName { ours, theirs, whose: Whose::Scrapy }
}

const NAMES: &[ForeignName] = &[
    crawlee("maxConcurrency", "concurrency"),
    crawlee("desiredConcurrency", "concurrency"),
    crawlee("minConcurrency", "min-concurrency"),
    crawlee("maxTasksPerMinute", "max-tasks-per-minute"),
    crawlee("maxRequestsPerMinute", "max-tasks-per-minute"),
    crawlee("maxRequestsPerCrawl", "max-requests"),
    crawlee("maxRequestRetries", "max-retries"),
    crawlee("maxCrawlDepth", "max-depth"),
    crawlee("sameDomainDelaySecs", "delay"),
    crawlee("requestHandlerTimeoutSecs", "plugin-time"),
    crawlee("requestHandlerTimeout", "plugin-time"),
    crawlee("navigationTimeoutSecs", "request-timeout"),
    crawlee("navigationTimeout", "request-timeout"),
    crawlee("abortOnError", "abort-on-error"),
    crawlee("saveErrorSnapshots", "error-snapshots"),
    crawlee("statusMessageLoggingInterval", "status-interval"),
    crawlee("keepAlive", "keep-alive"),
    crawlee("useSessionPool", "session-pool"),
    crawlee("maxSessionRotations", "max-session-rotations"),
    crawlee("retryOnBlocked", "session-block-text"),
    crawlee("maxPoolSize", "session-max-pool-size"),
    crawlee("maxAgeSecs", "session-max-age"),
    crawlee("maxAge", "session-max-age"),
    crawlee("maxUsageCount", "session-max-uses"),
    crawlee("maxErrorScore", "session-max-error-score"),
    crawlee("errorScoreDecrement", "session-error-score-decrement"),
    crawlee("blockedStatusCodes", "session-blocked-statuses"),
    crawlee("persistStateKeyValueStoreId", "session-store"),
    crawlee("persistStateKey", "session-key"),
    scrapy("CONCURRENT_REQUESTS", "concurrency"),
    scrapy("DOWNLOAD_DELAY", "delay"),
    scrapy("DOWNLOAD_TIMEOUT", "request-timeout"),
    scrapy("DOWNLOAD_MAXSIZE", "max-body-size"),
    scrapy("DEPTH_LIMIT", "max-depth"),
    scrapy("RETRY_TIMES", "max-retries"),
    scrapy("REDIRECT_MAX_TIMES", "max-redirects"),
    scrapy("URLLENGTH_LIMIT", "max-url-length"),
    scrapy("USER_AGENT", "user-agent"),
    scrapy("LOGSTATS_INTERVAL", "status-interval"),
    scrapy("CLOSESPIDER_ITEMCOUNT", "max-items"),
    scrapy("CLOSESPIDER_PAGECOUNT", "max-requests"),
    scrapy("CLOSESPIDER_TIMEOUT", "max-time"),
    scrapy("CLOSESPIDER_ERRORCOUNT", "abort-on-error"),
    scrapy("COOKIES_ENABLED", "session-pool"),
];

/// What a name means elsewhere, if it means anything.
pub fn look_up(name: &str) -> Option<ForeignName> {
    let name = folded(name);
    NAMES.iter().find(|one| folded(one.theirs) == name).copied()
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting_table::all;

    #[test]
    fn every_name_leads_to_a_setting_that_there_is_and_is_no_other_settings_name() {
        for one in NAMES {
            assert!(all().any(|setting| setting.name == one.ours), "{one}");
            let clash = all().find(|setting| folded(setting.name) == folded(one.theirs));
            assert!(clash.is_none_or(|setting| setting.name == one.ours), "{one}");
        }
    }

    #[test]
    fn a_name_is_found_in_every_spelling() {
        for spelling in ["maxRequestsPerCrawl", "max_requests_per_crawl", "max-requests-per-crawl", "MAX_REQUESTS_PER_CRAWL"] {
            assert_eq!(look_up(spelling).map(|one| one.ours), Some("max-requests"), "{spelling}");
        }
        assert_eq!(look_up("max"), None);
    }
}
