//! Whether an answer means that a site wants no more of a session.
//!
//! Decision: a rule says of an answer what it is worth, and the worst word counts. Beside the session's blocked statuses there are
//! rules of whoever sets the pool up. A 429 while its site is being throttled says that the crawl is too fast, not that the session
//! is bad, and counts against nobody (Crawlee's issue 2143).

use memchr::memmem::Finder;
use nephila_model::Header;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Too many requests (RFC 6585).
pub const TOO_MANY_REQUESTS: u16 = 429;

/// What came back, as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status.
    pub status: u16,
    /// The header fields, names in lower case.
    pub headers: &'a [Header],
    /// The decoded body, or what is there of it.
    pub body: &'a [u8],
    /// Whether its request wants this very status.
    pub accepted: StatusAccepted,
    /// How its site is asked at the moment.
    pub site: SiteState,
}

impl Answer<'_> {
    /// The first value of a header field; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name == name).map(|header| header.value.as_str())
    }
}

/// Whether a request names a status among those that it accepts. One that it accepts blocks no session (Crawlee:
/// `ignore_http_error_status_codes`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusAccepted {
    /// It does.
    ByRequest,
    /// It does not.
    No,
}

/// How a site is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteState {
    /// As set.
    AsUsual,
    /// Slower than set, since it said that it has too much.
    Throttled,
}

/// What an answer means for the session. The later in this list, the worse.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Nothing.
    Fine,
    /// The page is good, and the session is to be retired behind it; with the reason.
    Retire(String),
    /// The page is not what was asked for: the session is to be retired, and the request tried with another one; with the reason.
    Blocked(String),
}

/// A rule of one's own.
pub trait BlockRule: Send + Sync {
    /// What an answer means.
    fn judge(&self, answer: &Answer<'_>) -> Judgement;
}

impl<F: Fn(&Answer<'_>) -> Judgement + Send + Sync> BlockRule for F {
    fn judge(&self, answer: &Answer<'_>) -> Judgement {
        self(answer)
    }
}

/// What it means that a body has one of the texts of a [`TextRule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMeans {
    /// It is no page but a block.
    Blocked,
    /// The page is good, and its session is to be retired behind it.
    Retire,
}

/// A rule: what it means that the beginning of a body has one of these texts in it (bytes, case and all).
#[derive(Debug)]
pub struct TextRule {
    texts: Vec<(String, Finder<'static>)>,
    means: TextMeans,
}

impl TextRule {
    /// Bytes of a body that are looked through: what a site says instead of a page is short.
    pub const LOOKED_THROUGH: usize = 1 << 20;

    /// Texts of a rule at most: each looks through the body by itself.
    pub const MOST_TEXTS: usize = 16;

    /// A rule of these texts; `None` if there are none. An empty text is passed over.
    #[must_use]
    pub fn new(texts: &[String], means: TextMeans) -> Option<Self> {
        let texts = texts.iter().filter(|text| !text.is_empty()).take(Self::MOST_TEXTS);
        let texts: Vec<_> = texts.map(|text| (text.clone(), Finder::new(text.as_bytes()).into_owned())).collect();
        (!texts.is_empty()).then_some(Self { texts, means })
    }
}

impl BlockRule for TextRule {
    fn judge(&self, answer: &Answer<'_>) -> Judgement {
        let looked_through = &answer.body[..answer.body.len().min(Self::LOOKED_THROUGH)];
        match self.texts.iter().find(|(_, finder)| finder.find(looked_through).is_some()) {
            None => Judgement::Fine,
            Some((text, _)) => {
                let why = format!("the page has `{text}` in it");
                match self.means {
                    TextMeans::Blocked => Judgement::Blocked(why),
                    TextMeans::Retire => Judgement::Retire(why),
                }
            }
        }
    }
}

/// What the statuses of a session and all rules say.
pub(crate) fn judge(blocked: &BTreeSet<u16>, rules: &[Arc<dyn BlockRule>], answer: &Answer<'_>) -> Judgement {
    let is_throttling = answer.status == TOO_MANY_REQUESTS && answer.site == SiteState::Throttled;
    let by_status = match answer.accepted {
        StatusAccepted::No if blocked.contains(&answer.status) && !is_throttling => {
            Judgement::Blocked(format!("the site answered with status {}", answer.status))
        }
        _ => Judgement::Fine,
    };
    rules.iter().map(|rule| rule.judge(answer)).fold(by_status, Judgement::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::default_blocked_status_codes;

    fn answer(status: u16) -> Answer<'static> {
        Answer { status, headers: &[], body: b"", accepted: StatusAccepted::No, site: SiteState::AsUsual }
    }

    fn is_blocked(answer: &Answer<'_>) -> bool {
        matches!(judge(&default_blocked_status_codes(), &[], answer), Judgement::Blocked(_))
    }

    #[test]
    fn the_blocked_statuses_block() {
        let blocked: Vec<u16> = (100..600).filter(|status| is_blocked(&answer(*status))).collect();
        assert_eq!(blocked, [401, 403, 429]);
    }

    #[test]
    fn a_status_that_the_request_accepts_blocks_nobody() {
        assert!(!is_blocked(&Answer { accepted: StatusAccepted::ByRequest, ..answer(403) }));
    }

    #[test]
    fn too_many_requests_blocks_nobody_while_the_site_is_throttled() {
        for (status, blocks) in [(429, false), (403, true)] {
            assert_eq!(is_blocked(&Answer { site: SiteState::Throttled, ..answer(status) }), blocks);
        }
    }

    #[test]
    fn of_several_rules_the_worst_word_counts() {
        let retire: Arc<dyn BlockRule> = Arc::new(|answer: &Answer<'_>| match answer.header("x-last") {
            Some(_) => Judgement::Retire("it said so".to_owned()),
            None => Judgement::Fine,
        });
        let check = TextRule::new(&["<title>Robot check".to_owned()], TextMeans::Blocked).expect("a rule");
        let rules = [retire, Arc::new(check)];
        let judge = |answer: &Answer<'_>| judge(&BTreeSet::new(), &rules, answer);
        let headers = [Header { name: "x-last".into(), value: "1".into() }];
        assert_eq!(judge(&answer(403)), Judgement::Fine);
        assert_eq!(judge(&Answer { headers: &headers, ..answer(200) }), Judgement::Retire("it said so".into()));
        let body = b"<html><title>Robot check</title>";
        assert!(matches!(judge(&Answer { headers: &headers, body, ..answer(200) }), Judgement::Blocked(_)));
        assert!(matches!(judge(&Answer { body, ..answer(200) }), Judgement::Blocked(_)));
    }

    #[test]
    fn texts_are_looked_for_in_the_beginning_of_the_body_as_they_are_written() {
        let texts = ["", "Are you human?", "last one"].map(str::to_owned);
        let says = |rule: &TextRule, body: &[u8]| rule.judge(&Answer { body, ..answer(200) });
        let retire = TextRule::new(&texts, TextMeans::Retire).expect("a rule");
        assert_eq!(says(&retire, b"the last one"), Judgement::Retire("the page has `last one` in it".into()));
        let block = TextRule::new(&texts, TextMeans::Blocked).expect("a rule");
        assert!(matches!(says(&block, b"<p>Are you human?"), Judgement::Blocked(_)));
        assert_eq!(says(&block, b"are you human?"), Judgement::Fine);
        let far = [vec![b' '; TextRule::LOOKED_THROUGH], b"last one".to_vec()].concat();
        assert_eq!((says(&block, &far), says(&block, b"")), (Judgement::Fine, Judgement::Fine));
        assert!(TextRule::new(&[String::new()], TextMeans::Blocked).is_none());
    }
}
