//! What becomes of what a listener asked for.

use super::News;
use crate::line::Line;
use nephila_model::{Effects, Heard, Lease, Outcome, Rejection, StatsDelta, Subject};

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    End,
}

/// What a commit came to.
pub(super) enum Committed {
    /// That is all of it, with what the run loop is to be told.
    Done(Option<News>, Then),
    /// What the call saw has changed.
    Conflict,
}

/// What can be done about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The event may be heard again.
    More,
    /// This was the last time.
    Last,
}

/// Commits it under the event that was heard.
pub(super) async fn commit(
    line: &Line,
    lease: Lease,
    heard: Heard,
    effects: Effects,
    stats: StatsDelta,
    turn: Turn,
) -> Committed {
    let mut outcome =
        Outcome { subject: Subject::Event(heard), lease, verdict: None, effects, stats, site_next_allowed: None, session: None };
    if heard == Heard::Passing && outcome.effects == Effects::default() && outcome.stats.is_empty() {
        return Committed::Done(None, Then::GoOn);
    }
    loop {
        let (news, then) = match line.commits.commit(outcome.clone()).await {
            Err(error) => (Some(News::Lost(error)), Then::End),
            Ok(Ok(applied)) => {
                (Some(News::Applied { applied: Box::new(applied), stop: outcome.effects.stop.clone() }), Then::GoOn)
            }
            Ok(Err(Rejection::Stale { .. })) => (Some(News::Stale), Then::End),
            Ok(Err(Rejection::StateConflict { what })) => {
                tracing::debug!(state = what, "what the listener saw has changed; it hears the event again");
                return Committed::Conflict;
            }
            // Whoever took it was quicker; who hears the event again is told that the id is taken. But two listeners of one event that
            // add the same one do not see each other.
            Ok(Err(Rejection::SessionTaken { id })) if turn == Turn::Last && !outcome.effects.sessions.is_empty() => {
                tracing::warn!(session = %id, "the sessions that listeners add are left out: an id is taken each time");
                outcome.effects.sessions.clear();
                continue;
            }
            Ok(Err(Rejection::SessionTaken { id })) => {
                tracing::debug!(session = %id, "the id of a session that the listener adds is taken; it hears the event again");
                return Committed::Conflict;
            }
            Ok(Err(Rejection::Decided | Rejection::Deferred)) => (None, Then::GoOn),
            Ok(Err(refused @ (Rejection::State(_) | Rejection::Engine(_)))) if outcome.effects != Effects::default() => {
                tracing::warn!(error = %refused, "what the listener asked for was refused");
                outcome.effects = Effects::default();
                continue;
            }
            Ok(Err(refused)) => {
                tracing::error!(error = %refused, "an event could not be noted as heard");
                (None, Then::End)
            }
        };
        return Committed::Done(news, then);
    }
}
