//! A loaded plugin, and how it is called.
//!
//! Decision: one way for all entry points (`run`): room, a sandbox, the call under its processor meter and its clock, then the report. A call
//! ends by itself, by its epoch, or by the time-out inside a host call; a moment later its future is dropped as the last resort.
//! In every case but the first the sandbox is thrown away; so is the one that described itself, which has no crawl and no name yet.

use crate::bindings::exports::nephila::crawler::{failure, manifest};
use crate::bindings::nephila::crawler::types::{Ending, Error as GuestError};
use crate::call::{Call, CallMetrics, CallReport};
use crate::entry_points::{CONTRACT, EntryPoints, Indices, MISTYPED};
use crate::failure::{CallFailure, Circumstances, ErrorInfo, LimitKind, Stop, one_line, word};
use crate::host::Runtime;
use crate::imports::CallHandle;
use crate::pool::{Idle, Sandbox};
use crate::sandbox::{self, Inside};
use crate::{Limits, LoadError, Manifest};
use nephila_model::{Effects, FailureReason};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::{InstancePre, Resource};

/// After the wall-clock limit, how long a call may take to notice before its future is dropped: some epoch ticks. One that waits
/// (asleep, or for the store) never notices.
const GRACE: Duration = Duration::from_millis(50);

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
    runtime: Arc<Runtime>,
    parts: Arc<Parts>,
    manifest: Arc<Manifest>,
    name: Arc<str>,
}

/// Which entry point is called, with what beside the call.
enum Entry {
    Handle,
    Failure(failure::Reason),
    Finish,
    Describe,
}

/// What an entry point answered.
enum Answer {
    Ended(Result<(), GuestError>),
    Described(Option<manifest::Description>),
}

/// How a run ended, before anyone judges it.
struct Ran {
    answer: Result<Answer, CallFailure>,
    effects: Effects,
    metrics: CallMetrics,
}

impl Plugin {
    pub(crate) fn new(runtime: Arc<Runtime>, parts: Parts, manifest: Manifest) -> Self {
        let name = manifest.name.as_str().into();
        Self { runtime, parts: Arc::new(parts), manifest: Arc::new(manifest), name }
    }

    /// Starts it once and lets it describe itself.
    pub(crate) async fn started(mut self, path: &Path) -> Result<Self, LoadError> {
        let path = path.to_owned();
        let ran = self.run(None, self.runtime.config.limits, Entry::Describe).await;
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
                let entry_point =
                    ["manifest", "failure", "finish"].into_iter().find(|name| *name == entry_point).unwrap_or("handler");
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

    /// Handles a page.
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

    async fn call(&self, call: Call, entry: Entry) -> CallReport {
        let has = self.entry_points();
        let subscribed = match entry {
            Entry::Failure(_) => has.failure,
            Entry::Finish => has.finish,
            Entry::Handle | Entry::Describe => true,
        };
        if !subscribed {
            return CallReport { effects: Effects::default(), ended: Ok(()), metrics: CallMetrics::default() };
        }
        let limits = call.settings.limits;
        let Ran { answer, effects, metrics } = self.run(Some(call), limits, entry).await;
        let ended = match answer {
            Ok(Answer::Ended(Ok(())) | Answer::Described(_)) => Ok(()),
            Ok(Answer::Ended(Err(error))) => Err(given_up(error)),
            Err(failure) => Err(failure),
        };
        let effects = match ended {
            Ok(()) => effects,
            Err(_) => Effects { refused: effects.refused.clone(), ..effects.only_reads() },
        };
        CallReport { effects, ended, metrics }
    }

    async fn run(&self, call: Option<Call>, limits: Limits, entry: Entry) -> Ran {
        let mut sandbox = match self.sandbox(limits).await {
            Ok(sandbox) => sandbox,
            Err(failure) => return Ran { answer: Err(failure), effects: Effects::default(), metrics: CallMetrics::default() },
        };
        let started = Instant::now();
        let described = matches!(entry, Entry::Describe);
        let page = call.as_ref().and_then(|call| call.page.clone());
        let parsed = || page.as_ref().map_or(Duration::ZERO, |page| page.parse_time());
        // A page may have been parsed by an earlier call.
        let parsed_before = parsed();
        sandbox::begin(&mut sandbox.store, call, limits);
        sandbox.calls += 1;
        let (cpu, deadline) = (sandbox.store.data().cpu.clone(), sandbox.store.data().deadline);
        let work = cpu.clone().run(enter(&self.parts, &mut sandbox, entry));
        let result = tokio::time::timeout_at((deadline + GRACE).into(), work).await;

        let wall = started.elapsed();
        let inside = sandbox.store.data_mut();
        let (last_words, log_lines, log_lines_dropped) = inside.log.end();
        let present = inside.present.take();
        // A page parses itself by the wall's clock, which a busy machine lets run ahead of the processor's.
        let host = inside.host_time.spent().min(cpu.total());
        let parse = parsed().saturating_sub(parsed_before).min(host);
        let metrics = CallMetrics {
            cpu: cpu.total(),
            host: host.saturating_sub(parse),
            parse,
            wall,
            memory_peak: inside.holdings.memory_peak,
            host_calls: present.as_ref().map_or(0, |present| present.host_calls),
            log_lines,
            log_lines_dropped,
        };
        let effects = present.map_or_else(Effects::default, |present| {
            let (state_reads, state_ops) = present.state.into_parts();
            Effects { state_reads, state_ops, ..present.draft.into_effects() }
        });
        let circumstances = Circumstances {
            last_words: last_words.as_deref(),
            memory_refused: inside.holdings.memory_refused.then_some(limits.memory),
            table_refused: inside.holdings.table_refused.then_some(limits.table_elements),
            machine_refused: inside.holdings.machine_refused,
        };
        let answer = match result {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(error))) => Err(CallFailure::of(&error, &circumstances)),
            Ok(Err(panicked)) => Err(CallFailure::Host { message: format!("a host function panicked: {}", panicked.0) }),
            Err(_) => Err(CallFailure::of(
                &Stop::Limit(LimitKind::Wall, sandbox::wall_spent(limits).to_string()).into(),
                &circumstances,
            )),
        };
        if answer.is_ok() && !described {
            let room = &self.runtime.room;
            let crowded = room.available_permits() < (self.runtime.config.sandboxes / 2) as usize;
            self.parts.idle.keep(sandbox, crowded);
        }
        Ran { answer, effects, metrics }
    }

    /// A live sandbox that waits, or room for a fresh one.
    async fn sandbox(&self, limits: Limits) -> Result<Sandbox, CallFailure> {
        if let Some(sandbox) = self.parts.idle.take() {
            return Ok(sandbox);
        }
        let room = self.runtime.room.clone().acquire_many_owned(self.parts.weight).await;
        let room = room.map_err(|_| CallFailure::Host { message: "the host of plugins is closed".to_owned() })?;
        let store = sandbox::store(&self.runtime.engine, self.runtime.shared.clone(), self.name.clone(), limits);
        Ok(Sandbox { store, instance: None, handler: None, calls: 0, _room: room })
    }
}

async fn enter(parts: &Parts, sandbox: &mut Sandbox, entry: Entry) -> wasmtime::Result<Answer> {
    let (store, indices) = (&mut sandbox.store, &parts.indices);
    let instance = match sandbox.instance {
        Some(instance) => instance,
        None => *sandbox.instance.insert(parts.pre.instantiate_async(&mut *store).await?),
    };
    let call = Resource::<CallHandle>::new_own(store.data().number);
    match entry {
        Entry::Handle => {
            let handler = match &sandbox.handler {
                Some(handler) => handler,
                None => sandbox.handler.insert(indices.handler(store, &instance)?),
            };
            handler.call_handle(store, call).await.map(Answer::Ended)
        }
        Entry::Failure(reason) => match indices.failure(store, &instance)? {
            Some(failure) => failure.call_on_failure(store, call, &reason).await.map(Answer::Ended),
            None => Ok(Answer::Ended(Ok(()))),
        },
        Entry::Finish => match indices.finish(store, &instance)? {
            Some(finish) => finish.call_on_finish(store).await.map(Answer::Ended),
            None => Ok(Answer::Ended(Ok(()))),
        },
        Entry::Describe => {
            indices.check(store, &instance)?;
            match indices.manifest(store, &instance)? {
                Some(manifest) => manifest.call_describe(store).await.map(Some).map(Answer::Described),
                None => Ok(Answer::Described(None)),
            }
        }
    }
}

/// An error without an ending is most often one of the host's that the handler let through: it would come again.
fn given_up(error: GuestError) -> CallFailure {
    let info = ErrorInfo { code: word(&error.code), message: one_line(&error.message, 2_000) };
    match error.ending {
        Some(Ending::Retry) => CallFailure::Retry(info),
        Some(Ending::Skip) => CallFailure::Skip(info),
        Some(Ending::Fatal) | None => CallFailure::Fatal(info),
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("name", &self.manifest.name).field("digest", &self.parts.digest).finish_non_exhaustive()
    }
}
