//! A loaded plugin, and how it is called.
//!
//! Decision: a method for each entry point; one that a plugin does not have is answered for it at once. What they have in common is in
//! `run.rs`; the one whose instance outlives its calls, the listener, in `listener.rs`.

use crate::bindings::exports::nephila::crawler::failure;
use crate::call::{Call, CallMetrics, CallReport, CallSettings};
use crate::entry_points::{CONTRACT, EntryPoints, Indices, MISTYPED};
use crate::failure::{CallFailure, ErrorInfo, one_line};
use crate::fault::Fault;
use crate::host::Runtime;
use crate::imports::session::checked_user_data;
use crate::pool::Idle;
use crate::run::{Answer, Entry, given_up};
use crate::sandbox::{Inside, Occasion};
use crate::session::NewSession;
use crate::{Limits, LoadError, Manifest, json};
use nephila_model::FailureReason;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::InstancePre;

/// What loading makes.
pub(crate) struct Parts {
    pub(crate) pre: InstancePre<Inside>,
    pub(crate) indices: Indices,
    pub(crate) digest: String,
    pub(crate) imports: Vec<String>,
    pub(crate) size: u64,
    pub(crate) weight: u32,
    pub(crate) idle: Arc<Idle>,
}

/// A plugin, ready to be called, by any number of tasks at a time.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) parts: Arc<Parts>,
    manifest: Arc<Manifest>,
    pub(crate) name: Arc<str>,
}

impl Plugin {
    pub(crate) fn new(runtime: Arc<Runtime>, parts: Parts, manifest: Manifest) -> Self {
        let name = manifest.name.as_str().into();
        Self { runtime, parts: Arc::new(parts), manifest: Arc::new(manifest), name }
    }

    /// Starts it once and lets it describe itself.
    pub(crate) async fn started(mut self, path: &Path) -> Result<Self, LoadError> {
        let path = path.to_owned();
        let ran = self.run(Occasion::Nothing, self.runtime.config.limits, Entry::Describe).await;
        match ran.answer {
            Ok(Answer::Described(Some(said))) => {
                let manifest = Manifest::check(said).map_err(|cause| LoadError::Manifest { path, cause })?;
                self.name = manifest.name.as_str().into();
                self.manifest = Arc::new(manifest);
                Ok(self)
            }
            Ok(_) => Ok(self),
            Err(CallFailure::Trap { message, .. }) if message.starts_with(MISTYPED) => {
                let rest = message.trim_start_matches(MISTYPED);
                let (entry_point, cause) = rest.split_once(':').unwrap_or(("handler", rest));
                let optional = ["manifest", "failure", "finish", "listener", "sessions", "pipeline"];
                let entry_point = optional.into_iter().find(|name| *name == entry_point).unwrap_or("handler");
                Err(LoadError::Mistyped { path, entry_point, spoken: CONTRACT, cause: cause.trim().to_owned() })
            }
            Err(failure) => Err(LoadError::Start { path, failure }),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// The SHA-256 of its file, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.parts.digest
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Which entry points it has.
    #[must_use]
    pub fn entry_points(&self) -> EntryPoints {
        self.parts.indices.entry_points()
    }

    /// The names of the interfaces that it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.parts.imports
    }

    /// Bytes of its file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.parts.size
    }

    /// Handles a page. Without the entry point, nothing happens.
    pub async fn handle(&self, call: Call) -> CallReport {
        self.call(call, Entry::Handle).await
    }

    /// Tells it of a request that is given up after so many attempts. Without the entry point, nothing happens.
    pub async fn failure(&self, call: Call, reason: &FailureReason, attempts: u32) -> CallReport {
        let reason = failure::Reason {
            code: reason.code.as_str().to_owned(),
            message: reason.message.clone(),
            attempts: attempts.max(1),
            status: reason.status,
        };
        self.call(call, Entry::Failure(reason)).await
    }

    /// Tells it that the queue is empty. Without the entry point, nothing happens.
    pub async fn finish(&self, call: Call) -> CallReport {
        self.call(call, Entry::Finish).await
    }

    /// Lets it make a session: what the new one is to keep, and what that cost. `None` without the entry point. It has no crawl, but what the
    /// operator gave it (`config`), and limits as a handler. Fails with [`CallFailure`] as a handler does; with [`CallFailure::Fatal`] and the
    /// code `bad-json` or `quota` if what it makes is not usable.
    pub async fn create_session(&self, settings: Arc<CallSettings>) -> (Result<Option<NewSession>, CallFailure>, CallMetrics) {
        if !self.entry_points().sessions {
            return (Ok(None), CallMetrics::default());
        }
        let limits = settings.limits;
        let ran = self.run(Occasion::Settings(settings), limits, Entry::CreateSession).await;
        (ran.answer.and_then(|answer| checked_session(answer, limits)), ran.metrics)
    }

    async fn call(&self, call: Call, entry: Entry) -> CallReport {
        let has = self.entry_points();
        let subscribed = match entry {
            Entry::Handle => has.handler,
            Entry::Failure(_) => has.failure,
            Entry::Finish => has.finish,
            _ => true,
        };
        if !subscribed {
            return CallReport::nothing();
        }
        let limits = call.settings.limits;
        self.run(Occasion::Call(call), limits, entry).await.report()
    }
}

// What it made, if that is usable.
fn checked_session(answer: Answer, limits: Limits) -> Result<Option<NewSession>, CallFailure> {
    let Answer::Created(created) = answer else { return Ok(None) };
    let created = created.map_err(given_up)?;
    let unusable = |fault| match fault {
        Fault::Refused { code, message } => CallFailure::Fatal(ErrorInfo { code: code.to_owned(), message }),
        Fault::Trap(error) => CallFailure::Host { message: error.to_string() },
    };
    let user_data = checked_user_data(&created.user_data, limits.session_data_bytes).map_err(unusable)?;
    if let Some(extra) = &created.extra_json {
        json::check_object(extra).map_err(|cause| {
            let message = format!("the extra JSON of a session is wrong: {}", one_line(&cause, 200));
            CallFailure::Fatal(ErrorInfo { code: "bad-json".to_owned(), message })
        })?;
    }
    Ok(Some(NewSession { user_data, extra_json: created.extra_json }))
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("name", &self.manifest.name).field("digest", &self.parts.digest).finish_non_exhaustive()
    }
}
