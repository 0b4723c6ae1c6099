//! Settings of sessions.

use super::{POSITIVE, Setting, TIME, number, optional, positive, shown, some_time, unless_none};
use crate::session_settings::Sessions;
use nephila_crawlee::RecordKey;
use nephila_model::KvStoreName;
use nephila_page::SelectorCache;
use nephila_session::{ReuseStrategy, Sharing, TextRule};
use std::collections::BTreeSet;
use std::time::Duration;

/// Bytes of a text by which pages are told.
const LONGEST_TEXT: usize = 200;

pub(super) const TABLE: &[Setting] = &[
    setting!(
        "session-pool",
        "yes or no",
        "Whether pages are fetched by sessions: visitors with cookies, a score and limits (Crawlee: useSessionPool, there yes).",
        |s, v| s.sessions.used = match v {
            "yes" | "true" => Sessions::Used,
            "no" | "false" => Sessions::None,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.sessions.used {
            Sessions::Used => "yes",
            Sessions::None => "no",
        }
        .to_owned()
    ),
    setting!(
        "session-max-pool-size",
        POSITIVE,
        "Usable sessions at once at most (Crawlee: maxPoolSize).",
        |s, v| s.sessions.max_pool_size = positive(v)?,
        |s| s.sessions.max_pool_size.to_string()
    ),
    setting!(
        "session-max-age",
        TIME,
        "How long a session lives, through pauses too (Crawlee: maxAgeSecs).",
        |s, v| s.sessions.limits.max_age = age(v)?,
        |s| shown(s.sessions.limits.max_age)
    ),
    setting!(
        "session-max-uses",
        POSITIVE,
        "Requests of a session at most, the redirects of each included (Crawlee: maxUsageCount).",
        |s, v| s.sessions.limits.max_uses = u32::try_from(positive(v)?).map_err(|_| "is too large".to_owned())?,
        |s| s.sessions.limits.max_uses.to_string()
    ),
    setting!(
        "session-max-error-score",
        "a number above 0",
        "The error score at which a session is retired; a bad use adds 1 (Crawlee: maxErrorScore).",
        |s, v| s.sessions.limits.max_error_score =
            score(v).and_then(|score| { if score > 0.0 { Ok(score) } else { Err("is too small".to_owned()) } })?,
        |s| s.sessions.limits.max_error_score.to_string()
    ),
    setting!(
        "session-error-score-decrement",
        "0, or a number above it",
        "What a good use takes off a session's error score (Crawlee: errorScoreDecrement).",
        |s, v| s.sessions.limits.error_score_decrement = score(v)?,
        |s| s.sessions.limits.error_score_decrement.to_string()
    ),
    setting!(
        "session-blocked-statuses",
        "statuses from 400 to 599, separated by commas, or none",
        "Statuses by which a site blocks a session, unless a request accepts them (Crawlee: blockedStatusCodes).",
        |s, v| s.sessions.limits.blocked_status_codes = unless_none(v, statuses)?.unwrap_or_default(),
        |s| optional(Some(listed(&s.sessions.limits.blocked_status_codes)).filter(|text| !text.is_empty()))
    ),
    setting!(
        "session-block-text",
        "1 to 16 texts with vertical bars between them, or none",
        "A page with one of these texts in its first MB, whatever its status, is a block: another session tries (Crawlee: retryOnBlocked).",
        |s, v| s.sessions.block_text = unless_none(v, texts)?.unwrap_or_default(),
        |s| shown_texts(&s.sessions.block_text)
    ),
    setting!(
        "session-block-selectors",
        "CSS selectors, separated by commas, or none",
        "An accepted page with an element that one of these matches is a block, too.",
        |s, v| s.sessions.block_selectors = unless_none(v, selectors)?,
        |s| optional(s.sessions.block_selectors.clone())
    ),
    setting!(
        "session-retire-text",
        "1 to 16 texts with vertical bars between them, or none",
        "A page with one of these texts in its first MB ends its session, and is handled all the same if its status is accepted.",
        |s, v| s.sessions.retire_text = unless_none(v, texts)?.unwrap_or_default(),
        |s| shown_texts(&s.sessions.retire_text)
    ),
    setting!(
        "session-reuse",
        "random, round-robin or until-failure",
        "Which session is next: a new one until the pool is full, then any; or by turns; or the same one until it fails.",
        |s, v| s.sessions.strategy = match v {
            "random" => ReuseStrategy::Random,
            "round-robin" => ReuseStrategy::RoundRobin,
            "until-failure" => ReuseStrategy::UntilFailure,
            _ => return Err("is none of them".to_owned()),
        },
        |s| match s.sessions.strategy {
            ReuseStrategy::Random => "random",
            ReuseStrategy::RoundRobin => "round-robin",
            ReuseStrategy::UntilFailure => "until-failure",
        }
        .to_owned()
    ),
    setting!(
        "session-exclusive",
        "yes or no",
        "Whether a session serves one request at a time.",
        |s, v| s.sessions.sharing = match v {
            "yes" | "true" => Sharing::Exclusive,
            "no" | "false" => Sharing::Concurrent,
            _ => return Err("is neither".to_owned()),
        },
        |s| match s.sessions.sharing {
            Sharing::Exclusive => "yes",
            Sharing::Concurrent => "no",
        }
        .to_owned()
    ),
    setting!(
        "max-session-rotations",
        "a whole number",
        "Tries of a request with another session at most, where a site blocks; they are no retries (Crawlee: maxSessionRotations).",
        |s, v| s.sessions.max_rotations = number(v)?,
        |s| s.sessions.max_rotations.to_string()
    ),
    setting!(
        "session-store",
        "the name of a key-value store, or none",
        "Where the pool is kept: with a name all crawls of the store share it, one after the other (Crawlee: persistStateKeyValueStoreId).",
        |s, v| s.sessions.place.store = match unless_none(v, shared_store)? {
            Some(name) => KvStoreName::Named(name),
            None => KvStoreName::Default,
        },
        |s| match &s.sessions.place.store {
            KvStoreName::Default => "none".to_owned(),
            KvStoreName::Named(name) => name.clone(),
        }
    ),
    setting!(
        "session-key",
        "1 to 128 letters, digits, dots, underscores and hyphens",
        "The pool's key there, and of the record that shows it (Crawlee: persistStateKey).",
        |s, v| s.sessions.place.key = key(v)?,
        |s| s.sessions.place.key.clone()
    ),
];

// Sessions are kept with times in milliseconds.
fn age(value: &str) -> Result<Duration, String> {
    let age = some_time(value)?;
    if age.as_millis() == 0 { Err("leaves no whole millisecond".to_owned()) } else { Ok(age) }
}

fn score(value: &str) -> Result<f64, String> {
    match number::<f64>(value)? {
        score if score.is_finite() && score >= 0.0 => Ok(score),
        _ => Err("is no such number".to_owned()),
    }
}

fn statuses(value: &str) -> Result<BTreeSet<u16>, String> {
    let one = |text: &str| {
        number(text.trim()).and_then(|status| {
            if (400..600).contains(&status) { Ok(status) } else { Err("has a status outside 400 to 599".to_owned()) }
        })
    };
    value.split(',').map(one).collect()
}

fn listed(statuses: &BTreeSet<u16>) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

// As they stand between the bars, without the white space around them.
fn texts(value: &str) -> Result<Vec<String>, String> {
    let texts: Vec<String> = value.split('|').map(|text| text.trim().to_owned()).collect();
    if texts.len() > TextRule::MOST_TEXTS {
        return Err(format!("has {} texts", texts.len()));
    }
    match texts.iter().find(|text| !(1..=LONGEST_TEXT).contains(&text.len())) {
        Some(text) if text.is_empty() => Err("has an empty text".to_owned()),
        Some(_) => Err(format!("has a text of more than {LONGEST_TEXT} bytes")),
        None => Ok(texts),
    }
}

fn shown_texts(texts: &[String]) -> String {
    optional(Some(texts.join(" | ")).filter(|text| !text.is_empty()))
}

fn selectors(value: &str) -> Result<String, String> {
    SelectorCache::new().check(value).map_err(|fault| format!("cannot be used: {}", fault.message))?;
    Ok(value.to_owned())
}

fn shared_store(value: &str) -> Result<String, String> {
    match value {
        "default" => {
            Err("is the crawl's own store, which is what `none` says; give another name for one that crawls share".to_owned())
        }
        "." | ".." => Err("is the name of a folder".to_owned()),
        _ => store_name(value),
    }
}

// Where the pool is shown, and nothing else is.
fn key(value: &str) -> Result<String, String> {
    let key = RecordKey::new(store_name(value)?).map_err(|_| "is a name that no record can have".to_owned())?;
    if key.is_a_crawls_own() {
        return Err(
            "is the key of a record that crawls write themselves, which the pool would overwrite; take another".to_owned()
        );
    }
    Ok(key.as_str().to_owned())
}

// As a plugin would have to name it.
fn store_name(value: &str) -> Result<String, String> {
    let fits = (1..=128).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if fits { Ok(value.to_owned()) } else { Err("is no such name".to_owned()) }
}
