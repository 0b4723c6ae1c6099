//! What settings are called in Crawlee and in Scrapy, for who has those names in mind.
//!
//! Decision: they are hints, and no names of ours: a setting has one name. What is no setting here is said with what to take
//! instead. Crawlee's are looked for in both of its spellings, and whatever the letters' case and the signs between words.

use std::fmt;

/// Whose name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Crawlee's, of JavaScript and Python.
    Crawlee,
    /// Scrapy's.
    Scrapy,
}

/// What there is here for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    /// A setting, by its name.
    Setting(&'static str),
    /// Something else; the end of a sentence that says what it is.
    Instead(&'static str),
    /// Nothing so far, and what to do meanwhile.
    NotYet(&'static str),
}

/// What a name means elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignName {
    /// What there is here.
    pub ours: Ours,
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
    ForeignName { ours: Ours::Setting(ours), theirs, whose: Whose::Crawlee }
}

const fn scrapy(theirs: &'static str, ours: &'static str) -> ForeignName {
    ForeignName { ours: Ours::Setting(ours), theirs, whose: Whose::Scrapy }
}

const fn no_setting(whose: Whose, theirs: &'static str, ours: Ours) -> ForeignName {
    ForeignName { ours, theirs, whose }
}

const STATUSES: Ours = Ours::Instead(
    "for each request here: the accepted statuses of a request are those that reach the handler (200 to 299 without any)",
);
const ROBOTS: Ours = Ours::NotYet("robots.txt is not read, so let a plugin enqueue only what may be fetched");

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
    no_setting(Whose::Crawlee, "purgeOnStart", Ours::Instead("how every run without `--job` begins: anew")),
    no_setting(
        Whose::Crawlee,
        "persistCookiesPerSession",
        Ours::Instead("what every session does: `session-pool=yes` gives each its own cookies, and keeps them"),
    ),
    no_setting(Whose::Crawlee, "additionalHttpErrorStatusCodes", STATUSES),
    no_setting(Whose::Crawlee, "ignoreHttpErrorStatusCodes", STATUSES),
    no_setting(Whose::Crawlee, "respectRobotsTxtFile", ROBOTS),
    no_setting(Whose::Crawlee, "proxyConfiguration", Ours::NotYet("every page is fetched from this machine's own address")),
    no_setting(Whose::Crawlee, "headless", Ours::NotYet("there is no browser, and pages are what the server sends")),
    no_setting(Whose::Scrapy, "JOBDIR", Ours::Instead("the option `--job DIR`")),
    no_setting(Whose::Scrapy, "FEEDS", Ours::Instead("the option `-o FILE.jsonl`, which may be repeated")),
    no_setting(Whose::Scrapy, "ITEM_PIPELINES", Ours::Instead("the option `--pipeline PLUGIN`, which may be repeated")),
    no_setting(Whose::Scrapy, "LOG_LEVEL", Ours::Instead("the variable NEPHILA_LOG: `NEPHILA_LOG=debug nephila run …`")),
    no_setting(
        Whose::Scrapy,
        "RETRY_HTTP_CODES",
        Ours::Instead(
            "fixed here: 408, 425, 429 and 5xx are tried again, unless they are among the accepted statuses of a request",
        ),
    ),
    no_setting(
        Whose::Scrapy,
        "CONCURRENT_REQUESTS_PER_DOMAIN",
        Ours::Instead("no limit of its own here: `delay` spares each site, `concurrency` is for all sites together"),
    ),
    no_setting(Whose::Scrapy, "ROBOTSTXT_OBEY", ROBOTS),
    no_setting(Whose::Scrapy, "AUTOTHROTTLE_ENABLED", Ours::NotYet("`delay` is the pause between requests to one site")),
    no_setting(
        Whose::Scrapy,
        "HTTPCACHE_ENABLED",
        Ours::NotYet("`nephila fetch URL --save FILE.json` keeps a page, and `nephila check` runs a plugin on it"),
    ),
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
            let clash = all().find(|setting| folded(setting.name) == folded(one.theirs));
            match one.ours {
                Ours::Setting(ours) => {
                    assert!(all().any(|setting| setting.name == ours), "{one}");
                    assert!(clash.is_none_or(|setting| setting.name == ours), "{one}");
                }
                Ours::Instead(_) | Ours::NotYet(_) => assert!(clash.is_none(), "{one}"),
            }
        }
    }

    #[test]
    fn a_name_is_found_in_every_spelling() {
        for spelling in ["maxRequestsPerCrawl", "max_requests_per_crawl", "max-requests-per-crawl", "MAX_REQUESTS_PER_CRAWL"] {
            assert_eq!(look_up(spelling).map(|one| one.ours), Some(Ours::Setting("max-requests")), "{spelling}");
        }
        assert_eq!(look_up("max"), None);
    }
}
