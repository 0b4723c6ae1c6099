//! Whether an answer means that a site wants no more of a session.
//!
//! Decision: a rule says of an answer what it is worth, and the worst word counts. Beside the session's blocked statuses there are
//! rules of whoever sets the pool up. A 429 while its site is being throttled says that the crawl is too fast, not that the session
//! is bad, and counts against nobody (Crawlee's issue 2143).

use nephila_model::Header;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Too many requests (RFC 6585).
const TOO_MANY_REQUESTS: u16 = 429;

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

/// A rule: an answer whose body has `marker` in it (bytes, case and all) is no page but a block.
#[must_use]
pub fn blocked_if_body_has(marker: &'static str) -> Arc<dyn BlockRule> {
    Arc::new(move |answer: &Answer<'_>| {
        let is_there = answer.body.windows(marker.len().max(1)).any(|window| window == marker.as_bytes());
        if is_there { Judgement::Blocked(format!("the page has `{marker}` in it")) } else { Judgement::Fine }
    })
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
        let rules = [retire, blocked_if_body_has("<title>Robot check")];
        let judge = |answer: &Answer<'_>| judge(&BTreeSet::new(), &rules, answer);
        let headers = [Header { name: "x-last".into(), value: "1".into() }];
        assert_eq!(judge(&answer(403)), Judgement::Fine);
        assert_eq!(judge(&Answer { headers: &headers, ..answer(200) }), Judgement::Retire("it said so".into()));
        let body = b"<html><title>Robot check</title>";
        assert!(matches!(judge(&Answer { headers: &headers, body, ..answer(200) }), Judgement::Blocked(_)));
        assert!(matches!(judge(&Answer { body, ..answer(200) }), Judgement::Blocked(_)));
    }
}
