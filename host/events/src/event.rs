//! What happened, with what is said about it.
//!
//! Decision: an event is a value, the same for every listener, and its payload on the wire is a function of it
//! ([`Event::payload`]) in Crawlee's shape. What Crawlee declares without ever emitting it (sessions, browsers, pages) has no
//! shape there; it has one here.

use crate::{EventName, OwnName, SystemInfo};
use nephila_model::{CrawlerId, FailureReason};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Now is the time to write down what one would miss. A notification: what the store committed is durable without it.
    PersistState {
        /// Whether the process is about to go on elsewhere.
        is_migrating: bool,
    },
    /// How busy the process and its machine are.
    SystemInfo(SystemInfo),
    /// A crawl says how it is getting on.
    CrawlerStatus {
        /// Whose crawl; stable across restarts (Crawlee's is a number that is not).
        crawler_id: CrawlerId,
        /// A sentence for people.
        message: String,
    },
    /// The process will soon be stopped and go on elsewhere.
    Migrating {
        /// Until it is stopped, as far as that is known; whole seconds on the wire.
        time_remaining: Option<Duration>,
    },
    /// The crawl is being ended from outside.
    Aborting,
    /// The process is about to end.
    Exit,
    /// A session will not be used again.
    SessionRetired {
        /// Whose pool it is of.
        crawler_id: CrawlerId,
        /// Which session.
        session_id: String,
    },
    /// A browser was started.
    BrowserLaunched {
        /// Which browser.
        browser_id: String,
    },
    /// A browser gets no new pages.
    BrowserRetired {
        /// Which browser.
        browser_id: String,
    },
    /// A browser has ended.
    BrowserClosed {
        /// Which browser.
        browser_id: String,
    },
    /// A browser opened a page.
    PageCreated {
        /// Which browser.
        browser_id: String,
        /// Which of its pages.
        page_id: String,
    },
    /// A browser closed a page.
    PageClosed {
        /// Which browser.
        browser_id: String,
        /// Which of its pages.
        page_id: String,
    },
    /// A crawl has begun, or goes on after a stop.
    CrawlStarted {
        /// Whose crawl.
        crawler_id: CrawlerId,
    },
    /// A crawl has ended, for now or for good.
    CrawlFinished {
        /// Whose crawl.
        crawler_id: CrawlerId,
        /// Why, as the report of the crawl has it.
        reason: String,
    },
    /// A request was given up.
    RequestFailed {
        /// Whose request.
        crawler_id: CrawlerId,
        /// What was to be fetched.
        url: String,
        /// Why.
        reason: FailureReason,
    },
    /// What a plugin, or the program around the host, has to say.
    Named {
        /// What it calls it.
        name: OwnName,
        /// What it says about it.
        payload: Value,
    },
}

impl Event {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> EventName {
        match self {
            Self::PersistState { .. } => EventName::PersistState,
            Self::SystemInfo(_) => EventName::SystemInfo,
            Self::CrawlerStatus { .. } => EventName::CrawlerStatus,
            Self::Migrating { .. } => EventName::Migrating,
            Self::Aborting => EventName::Aborting,
            Self::Exit => EventName::Exit,
            Self::SessionRetired { .. } => EventName::SessionRetired,
            Self::BrowserLaunched { .. } => EventName::BrowserLaunched,
            Self::BrowserRetired { .. } => EventName::BrowserRetired,
            Self::BrowserClosed { .. } => EventName::BrowserClosed,
            Self::PageCreated { .. } => EventName::PageCreated,
            Self::PageClosed { .. } => EventName::PageClosed,
            Self::CrawlStarted { .. } => EventName::CrawlStarted,
            Self::CrawlFinished { .. } => EventName::CrawlFinished,
            Self::RequestFailed { .. } => EventName::RequestFailed,
            Self::Named { name, .. } => EventName::Named(name.clone()),
        }
    }

    /// Whose crawl it is about, if it is about one.
    #[must_use]
    pub const fn crawler_id(&self) -> Option<&CrawlerId> {
        match self {
            Self::CrawlerStatus { crawler_id, .. }
            | Self::SessionRetired { crawler_id, .. }
            | Self::CrawlStarted { crawler_id }
            | Self::CrawlFinished { crawler_id, .. }
            | Self::RequestFailed { crawler_id, .. } => Some(crawler_id),
            _ => None,
        }
    }

    /// What is said about it, as it is on the wire: Crawlee's shape where Crawlee has one. Times are RFC 3339 in UTC, sizes are
    /// bytes.
    #[must_use]
    pub fn payload(&self) -> Value {
        match self {
            Self::PersistState { is_migrating } => json!({ "isMigrating": is_migrating }),
            Self::SystemInfo(info) => info.payload(),
            Self::CrawlerStatus { crawler_id, message } => json!({ "message": message, "crawlerId": crawler_id }),
            Self::Migrating { time_remaining } => json!({ "timeRemainingSecs": time_remaining.map(|left| left.as_secs()) }),
            Self::Aborting | Self::Exit => Value::Object(Map::new()),
            Self::SessionRetired { crawler_id, session_id } => json!({ "crawlerId": crawler_id, "sessionId": session_id }),
            Self::BrowserLaunched { browser_id } | Self::BrowserRetired { browser_id } | Self::BrowserClosed { browser_id } => {
                json!({ "browserId": browser_id })
            }
            Self::PageCreated { browser_id, page_id } | Self::PageClosed { browser_id, page_id } => {
                json!({ "browserId": browser_id, "pageId": page_id })
            }
            Self::CrawlStarted { crawler_id } => json!({ "crawlerId": crawler_id }),
            Self::CrawlFinished { crawler_id, reason } => json!({ "crawlerId": crawler_id, "reason": reason }),
            Self::RequestFailed { crawler_id, url, reason } => json!({
                "crawlerId": crawler_id,
                "url": url,
                "code": reason.code.as_str(),
                "message": reason.message,
                "statusCode": reason.status,
            }),
            Self::Named { payload, .. } => payload.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuInfo, MemoryInfo};
    use nephila_model::{FailureCode, Timestamp};

    fn shop() -> CrawlerId {
        CrawlerId::new("shop").unwrap()
    }

    #[test]
    fn payloads_have_crawlees_shapes() {
        let at = Timestamp::from_millis(1_790_000_000_250);
        let cpu = CpuInfo { used_ratio: 0.5, created_at: at };
        let memory = MemoryInfo { current_size: 1, total_size: 3, system_wide_used_size: 2, created_at: at };
        let cases = [
            (Event::PersistState { is_migrating: true }, json!({ "isMigrating": true })),
            (
                Event::SystemInfo(SystemInfo { cpu, memory }),
                json!({
                    "cpuInfo": { "usedRatio": 0.5, "createdAt": "2026-09-21T14:13:20.250Z" },
                    "memoryInfo": {
                        "currentSize": 1, "totalSize": 3, "systemWideUsedSize": 2, "createdAt": "2026-09-21T14:13:20.250Z"
                    },
                }),
            ),
            (
                Event::CrawlerStatus { crawler_id: shop(), message: "Crawled 1/2 pages".to_owned() },
                json!({ "message": "Crawled 1/2 pages", "crawlerId": "shop" }),
            ),
            (Event::Migrating { time_remaining: Some(Duration::from_millis(9_900)) }, json!({ "timeRemainingSecs": 9 })),
            (Event::Migrating { time_remaining: None }, json!({ "timeRemainingSecs": null })),
            (Event::Aborting, json!({})),
            (Event::Exit, json!({})),
        ];
        for (event, payload) in cases {
            assert_eq!(event.payload(), payload, "{event:?}");
        }
    }

    #[test]
    fn payloads_of_our_own_name_crawl_and_thing() {
        let (browser_id, page_id) = ("b1".to_owned(), "p1".to_owned());
        let reason = FailureReason { code: FailureCode("status".into()), message: "gone".to_owned(), status: Some(410) };
        let cases = [
            (
                Event::SessionRetired { crawler_id: shop(), session_id: "s1".to_owned() },
                json!({ "crawlerId": "shop", "sessionId": "s1" }),
            ),
            (Event::BrowserClosed { browser_id: browser_id.clone() }, json!({ "browserId": "b1" })),
            (Event::PageCreated { browser_id, page_id }, json!({ "browserId": "b1", "pageId": "p1" })),
            (Event::CrawlStarted { crawler_id: shop() }, json!({ "crawlerId": "shop" })),
            (
                Event::CrawlFinished { crawler_id: shop(), reason: "finished".to_owned() },
                json!({ "crawlerId": "shop", "reason": "finished" }),
            ),
            (
                Event::RequestFailed { crawler_id: shop(), url: "https://shop.example/".to_owned(), reason },
                json!({
                    "crawlerId": "shop", "url": "https://shop.example/", "code": "status", "message": "gone", "statusCode": 410
                }),
            ),
            (Event::Named { name: OwnName::new("low").unwrap(), payload: json!([1, "two"]) }, json!([1, "two"])),
        ];
        for (event, payload) in cases {
            assert_eq!(event.payload(), payload, "{event:?}");
        }
    }
}
