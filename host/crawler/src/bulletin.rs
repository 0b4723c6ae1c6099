//! What a crawl tells the event manager: that it has begun, how it gets on, what was given up, that it has ended.
//!
//! Decision: to tell is to hand over, never to wait. A crawl is not slower for who listens, and nothing of it depends on whether
//! anybody was told: an event that cannot be emitted is a line of the log.

use nephila_events::{Event, Events, OwnName};
use nephila_model::{CrawlerId, FailureReason, SESSION_RETIRED};
use url::Url;

/// A crawl's voice.
#[derive(Clone)]
pub struct Bulletin {
    events: Events,
    crawler: CrawlerId,
}

impl Bulletin {
    /// For the crawl of this crawler.
    pub const fn new(events: Events, crawler: CrawlerId) -> Self {
        Self { events, crawler }
    }

    /// Whose crawl it is.
    pub const fn crawler(&self) -> &CrawlerId {
        &self.crawler
    }

    /// Where it is told.
    pub const fn events(&self) -> &Events {
        &self.events
    }

    /// The crawl has begun, or goes on.
    pub fn started(&self) {
        self.tell(self.start());
    }

    /// What is told then.
    pub fn start(&self) -> Event {
        Event::CrawlStarted { crawler_id: self.crawler.clone() }
    }

    /// How it gets on.
    pub fn status(&self, message: String) {
        self.tell(Event::CrawlerStatus { crawler_id: self.crawler.clone(), message });
    }

    /// A request was given up, and that is committed.
    pub fn failed(&self, url: &Url, reason: &FailureReason) {
        self.tell(Event::RequestFailed { crawler_id: self.crawler.clone(), url: url.to_string(), reason: reason.clone() });
    }

    /// Something that waited in the store: a plugin has something to say, or a session is over.
    pub fn stored(&self, name: &str, payload: &str) {
        // Both were checked when they were written; a store that was edited is no reason to stop.
        let Ok(payload) = serde_json::from_str::<serde_json::Value>(payload) else { return };
        if name == SESSION_RETIRED {
            let session_id = payload["sessionId"].as_str().unwrap_or_default().to_owned();
            self.tell(Event::SessionRetired { crawler_id: self.crawler.clone(), session_id });
        } else if let Ok(name) = OwnName::new(name) {
            self.tell(Event::Named { name, payload });
        }
    }

    /// The crawl has ended, for now or for good.
    pub fn finished(&self, reason: &str) {
        self.tell(self.end(reason));
    }

    /// What is told when the crawl has ended.
    pub fn end(&self, reason: &str) -> Event {
        Event::CrawlFinished { crawler_id: self.crawler.clone(), reason: reason.to_owned() }
    }

    fn tell(&self, event: Event) {
        let name = event.name();
        if let Err(error) = self.events.emit(event) {
            tracing::debug!(event = %name, %error, "an event was not emitted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_events::EventName;

    #[test]
    fn the_store_and_the_event_manager_have_one_name_for_the_end_of_a_session() {
        assert_eq!(EventName::SessionRetired.to_string(), SESSION_RETIRED);
        let shown = Event::SessionRetired { crawler_id: CrawlerId::new("c").expect("an id"), session_id: "s".to_owned() };
        assert_eq!(shown.payload(), serde_json::json!({ "crawlerId": "c", "sessionId": "s" }));
    }
}
