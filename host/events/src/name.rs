//! What events are called, on the wire and in code.
//!
//! Decision: Crawlee's names are kept to the letter, so that what listened there listens here; a plugin's events have names of
//! their own that can never be mistaken for ours, not even by their case: a listener for `persiststate` would wait for ever.

use std::fmt::{Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

/// The name of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// `persistState`: now is the time to write down what one would miss (Crawlee: `PERSIST_STATE`).
    PersistState,
    /// `systemInfo`: how busy the process and its machine are (Crawlee: `SYSTEM_INFO`).
    SystemInfo,
    /// `crawlerStatus`: a crawl says how it is getting on (Crawlee: `CRAWLER_STATUS`).
    CrawlerStatus,
    /// `migrating`: the process will soon be stopped and go on elsewhere (Crawlee: `MIGRATING`).
    Migrating,
    /// `aborting`: the crawl is being ended from outside (Crawlee: `ABORTING`).
    Aborting,
    /// `exit`: the process is about to end (Crawlee: `EXIT`).
    Exit,
    /// `sessionRetired`: a session will not be used again (Crawlee: `SESSION_RETIRED`).
    SessionRetired,
    /// `browserLaunched` (Crawlee: `BROWSER_LAUNCHED`).
    BrowserLaunched,
    /// `browserRetired`: it gets no new pages (Crawlee: `BROWSER_RETIRED`).
    BrowserRetired,
    /// `browserClosed` (Crawlee: `BROWSER_CLOSED`).
    BrowserClosed,
    /// `pageCreated`: a browser opened a page (Crawlee: `PAGE_CREATED`).
    PageCreated,
    /// `pageClosed`: a browser closed a page (Crawlee: `PAGE_CLOSED`).
    PageClosed,
    /// `crawlStarted`; ours.
    CrawlStarted,
    /// `crawlFinished`; ours.
    CrawlFinished,
    /// `requestFailed`: a request was given up; ours.
    RequestFailed,
    /// An event that a plugin, or the program around the host, named itself.
    Named(OwnName),
}

/// The names that are taken, each with its text.
const OURS: [(EventName, &str); 15] = [
    (EventName::PersistState, "persistState"),
    (EventName::SystemInfo, "systemInfo"),
    (EventName::CrawlerStatus, "crawlerStatus"),
    (EventName::Migrating, "migrating"),
    (EventName::Aborting, "aborting"),
    (EventName::Exit, "exit"),
    (EventName::SessionRetired, "sessionRetired"),
    (EventName::BrowserLaunched, "browserLaunched"),
    (EventName::BrowserRetired, "browserRetired"),
    (EventName::BrowserClosed, "browserClosed"),
    (EventName::PageCreated, "pageCreated"),
    (EventName::PageClosed, "pageClosed"),
    (EventName::CrawlStarted, "crawlStarted"),
    (EventName::CrawlFinished, "crawlFinished"),
    (EventName::RequestFailed, "requestFailed"),
];

impl EventName {
    /// The name as it is on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::PersistState => "persistState",
            Self::SystemInfo => "systemInfo",
            Self::CrawlerStatus => "crawlerStatus",
            Self::Migrating => "migrating",
            Self::Aborting => "aborting",
            Self::Exit => "exit",
            Self::SessionRetired => "sessionRetired",
            Self::BrowserLaunched => "browserLaunched",
            Self::BrowserRetired => "browserRetired",
            Self::BrowserClosed => "browserClosed",
            Self::PageCreated => "pageCreated",
            Self::PageClosed => "pageClosed",
            Self::CrawlStarted => "crawlStarted",
            Self::CrawlFinished => "crawlFinished",
            Self::RequestFailed => "requestFailed",
            Self::Named(name) => name.as_str(),
        }
    }

    /// The names that are ours, in the order of the list above.
    pub fn ours() -> impl Iterator<Item = Self> {
        OURS.into_iter().map(|(name, _)| name)
    }
}

impl Display for EventName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EventName {
    type Err = InvalidEventName;

    /// Ours by its exact text, any other as a plugin's own.
    fn from_str(text: &str) -> Result<Self, InvalidEventName> {
        match OURS.into_iter().find(|(_, ours)| *ours == text) {
            Some((name, _)) => Ok(name),
            None => OwnName::new(text).map(Self::Named),
        }
    }
}

impl From<OwnName> for EventName {
    fn from(name: OwnName) -> Self {
        Self::Named(name)
    }
}

/// The name of an event that is not one of ours: a letter, then up to 127 letters, digits, `.`, `_`, `-`, `:` or `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnName(Arc<str>);

impl OwnName {
    /// Bytes of a name at most.
    pub const LONGEST: usize = 128;

    /// Takes a name that is free.
    ///
    /// # Errors
    /// [`InvalidEventName`] if it is one of ours, in whatever case, or not a name at all.
    pub fn new(name: &str) -> Result<Self, InvalidEventName> {
        if let Some((_, ours)) = OURS.into_iter().find(|(_, ours)| ours.eq_ignore_ascii_case(name)) {
            return Err(InvalidEventName::Taken { name: name.to_owned(), ours });
        }
        let fits = name.len() <= Self::LONGEST
            && name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:/".contains(&byte));
        if fits { Ok(Self(name.into())) } else { Err(InvalidEventName::NoName { name: name.chars().take(40).collect() }) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for OwnName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that cannot be the name of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEventName {
    /// One of ours, or one but for its case.
    #[error(
        "`{name}` cannot be an event of a plugin's own, as Nephila has an event `{ours}`; write `{ours}` to mean that one, or take another name"
    )]
    Taken {
        /// What was given.
        name: String,
        /// Ours.
        ours: &'static str,
    },
    /// Not a name.
    #[error(
        "`{name}` is no name for an event; take a letter and then letters, digits, `.`, `_`, `-`, `:` or `/`, 128 characters at most"
    )]
    NoName {
        /// The beginning of what was given.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_ours_is_read_as_it_is_printed() {
        for (name, text) in OURS {
            assert_eq!(name.to_string(), text);
            assert_eq!(text.parse(), Ok(name));
        }
        assert_eq!(EventName::ours().count(), OURS.len());
    }

    #[test]
    fn a_plugins_name_is_read_as_it_is_printed() {
        for text in ["price-changed", "shop.example/stock:low", "x"] {
            let name: EventName = text.parse().unwrap();
            assert!(matches!(&name, EventName::Named(own) if own.as_str() == text));
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn a_plugins_name_is_never_one_of_ours_whatever_its_case() {
        for (_, ours) in OURS {
            for name in [ours.to_owned(), ours.to_uppercase(), ours.to_lowercase()] {
                assert_eq!(OwnName::new(&name), Err(InvalidEventName::Taken { name, ours }));
            }
        }
        let refused = "PersistState".parse::<EventName>().unwrap_err().to_string();
        assert!(refused.contains("`PersistState`") && refused.contains("write `persistState`"), "{refused}");
    }

    #[test]
    fn what_is_no_name_is_refused_with_what_one_is() {
        for text in ["", "7up", "-x", "with blank", "naïve", "a\nb", &"x".repeat(129)] {
            let refused = text.parse::<EventName>().unwrap_err();
            assert!(matches!(refused, InvalidEventName::NoName { .. }), "{text}");
            assert!(refused.to_string().len() < 200);
        }
        assert!(OwnName::new(&"x".repeat(128)).is_ok());
    }
}
