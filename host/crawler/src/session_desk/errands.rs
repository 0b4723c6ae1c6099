//! Errands of the pool, done in the store for a visit.
//!
//! Decision: each is written in a task of its own, to its end, also if the visit is dropped meanwhile: what the store has and what the pool
//! knows would be two things otherwise.

use super::held::{Freed, Held};
use super::{NoSession, SessionDesk, not_made};
use crate::call_cost::count_cost;
use crate::handling::Handling;
use crate::line::Line;
use crate::retry::Chance;
use nephila_model::{StatsDelta, Timestamp, Written};
use nephila_plugin::{CallFailure, NewSession};
use nephila_session::{Errand, SessionUse};
use nephila_store::{PoolUser, SessionCreated, Store, StoreError};
use std::sync::Arc;

impl SessionDesk {
    // `None`: others were quicker.
    pub(super) async fn run(&self, line: &Line, errand: Errand, stats: &mut StatsDelta) -> Result<Option<Held>, NoSession> {
        // Others may wait for the session that has come, or for the place of one that has not, dropped on the way or not.
        let _told = Freed(Arc::clone(&self.freed));
        match errand {
            Errand::Create(mut creation) => {
                if let Some(new) = self.made_by_plugin(line, stats).await? {
                    creation.record_mut().user_data = Written::first(new.user_data);
                }
                self.write(|store, user| async move {
                    match store.create_session(user, creation.record(), creation.uses()).await? {
                        SessionCreated::Made(range) => Ok(creation.made(range, Timestamp::now())),
                        SessionCreated::NameTaken => match creation.name_taken() {
                            Ok(()) => Ok(None),
                            Err(error) => {
                                let (reason, chance) = not_made(error.to_string(), Chance::Permanent);
                                Err(NoSession::Failed(reason, chance))
                            }
                        },
                    }
                })
                .await
            }
            Errand::Reserve(reservation) => {
                self.write(|store, user| async move {
                    let range = store.reserve_uses(user, reservation.id(), reservation.uses()).await?;
                    Ok(reservation.granted(range, Timestamp::now()))
                })
                .await
            }
        }
    }

    // In its turn among all calls of the plugin, and not beside a suspect. No session is held meanwhile, so that nobody waits for us.
    async fn made_by_plugin(&self, line: &Line, stats: &mut StatsDelta) -> Result<Option<NewSession>, NoSession> {
        let plugin = line.plugin();
        if !plugin.entry_points().sessions {
            return Ok(None);
        }
        let _beside = Handling::beside_others().await;
        // It is never closed.
        let _permit = line.handlers.acquire().await.ok();
        let (made, metrics) = plugin.create_session(Arc::clone(&line.call_settings)).await;
        count_cost(line, stats, &metrics);
        made.map_err(|failure| failed_to_make(&failure))
    }

    // In a task of its own: what the store has written is in memory too, also if the visit is dropped meanwhile.
    async fn write<F>(&self, errand: impl FnOnce(Arc<dyn Store>, PoolUser) -> F) -> Result<Option<Held>, NoSession>
    where
        F: Future<Output = Result<Option<SessionUse>, NoSession>> + Send + 'static,
    {
        let writing = Arc::clone(&self.writes).read_owned().await;
        let (freed, work) = (Arc::clone(&self.freed), errand(Arc::clone(&self.store), self.user));
        let task = tokio::spawn(async move {
            let _told = Freed(Arc::clone(&freed));
            let taken = work.await.map(|taken| taken.map(|taken| Held::new(taken, &freed)));
            // Together: where nobody is there to take it, what was taken goes back before the end is told that all is written.
            (taken, writing)
        });
        match task.await {
            Ok((taken, _writing)) => taken,
            Err(error) => Err(StoreError::Engine { action: "get a session for a request", cause: error.to_string() }.into()),
        }
    }
}

fn failed_to_make(failure: &CallFailure) -> NoSession {
    let chance = if failure.may_be_retried() { Chance::Transient } else { Chance::Permanent };
    let (reason, chance) = not_made(format!("the plugin made no session for the request: {failure}"), chance);
    NoSession::Failed(reason, chance)
}
