//! How a plugin runs, whichever entry point is called.
//!
//! Decision: one way for all of them: room, a sandbox, the call under its processor meter and its clock, then the report. A call
//! ends by itself, by its epoch, or by the time-out inside a host call; a moment later its future is dropped as the last resort.
//! In every case but the first the sandbox is thrown away; so is the one that described itself, which has no crawl and no name yet.

use crate::Limits;
use crate::bindings::exports::nephila::crawler::{failure, listener, manifest, sessions};
use crate::bindings::nephila::crawler::types::{Ending, Error as GuestError};
use crate::call::{CallMetrics, CallReport};
use crate::failure::{CallFailure, Circumstances, ErrorInfo, LimitKind, Stop, word};
use crate::fuel;
use crate::imports::CallHandle;
use crate::message::in_one_line;
use crate::pipeline::{Processed, process};
use crate::plugin::{Parts, Plugin};
use crate::pool::Sandbox;
use crate::sandbox::{self, Occasion};
use crate::session::SessionAsk;
use nephila_model::{Effects, ItemPush};
use std::time::{Duration, Instant};
use wasmtime::component::Resource;

/// After the wall-clock limit, how long a call may take to notice before its future is dropped: some epoch ticks. One that waits
/// (asleep, or for the store) never notices.
const GRACE: Duration = Duration::from_millis(50);

/// Which entry point is called, with what beside the call.
pub(crate) enum Entry {
    Handle,
    Failure(failure::Reason),
    Finish,
    Describe,
    Subscriptions,
    Event(listener::Event),
    CreateSession,
    /// Each of these items, one after another.
    Process(Vec<ItemPush>),
}

/// What an entry point answered.
pub(crate) enum Answer {
    Ended(Result<(), GuestError>),
    Described(Option<manifest::Description>),
    Subscribed(Vec<String>),
    Created(Result<sessions::NewSession, GuestError>),
    Processed(Processed),
    /// There is no such entry point.
    Absent,
}

/// How a run ended, before anyone judges it.
pub(crate) struct Ran {
    pub(crate) answer: Result<Answer, CallFailure>,
    pub(crate) effects: Effects,
    pub(crate) session: SessionAsk,
    pub(crate) metrics: CallMetrics,
}

impl Ran {
    /// One that never began.
    pub(crate) fn never(failure: CallFailure) -> Self {
        let (effects, session, metrics) = (Effects::default(), SessionAsk::default(), CallMetrics::default());
        Self { answer: Err(failure), effects, session, metrics }
    }

    /// What the call came to. After a failure its effects are gone, but for what it saw; what it asked for its session stays.
    pub(crate) fn report(self) -> CallReport {
        let Self { answer, effects, session, metrics } = self;
        let ended = match answer {
            Ok(Answer::Ended(Err(error))) => Err(given_up(error)),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure),
        };
        let effects = match ended {
            Ok(()) => effects,
            Err(_) => Effects { refused: effects.refused.clone(), ..effects.only_reads() },
        };
        CallReport { effects, session, ended, metrics }
    }
}

impl Plugin {
    /// Runs an entry point in a live sandbox that waits, or in a fresh one.
    pub(crate) async fn run(&self, occasion: Occasion, limits: Limits, entry: Entry) -> Ran {
        let sandbox = match self.parts.idle.take() {
            Some(sandbox) => sandbox,
            None => match self.fresh(limits).await {
                Ok(sandbox) => sandbox,
                Err(failure) => return Ran::never(failure),
            },
        };
        let described = matches!(entry, Entry::Describe);
        let (ran, sandbox) = self.run_in(sandbox, occasion, limits, entry).await;
        if let Some(sandbox) = sandbox
            && !described
        {
            let room = &self.runtime.room;
            let crowded = room.available_permits() < (self.runtime.config.sandboxes / 2) as usize;
            self.parts.idle.keep(sandbox, crowded);
        }
        ran
    }

    /// Runs an entry point in a sandbox, which comes back if it may go on: if the entry point ended by itself.
    pub(crate) async fn run_in(
        &self,
        mut sandbox: Sandbox,
        occasion: Occasion,
        limits: Limits,
        entry: Entry,
    ) -> (Ran, Option<Sandbox>) {
        let started = Instant::now();
        let page = occasion.page();
        let parsed = || page.as_ref().map_or(Duration::ZERO, |page| page.parse_time());
        // A page may have been parsed by an earlier call.
        let parsed_before = parsed();
        sandbox::begin(&mut sandbox.store, occasion, limits);
        let metering = self.runtime.config.metering;
        fuel::fill(&mut sandbox.store, metering);
        sandbox.calls += 1;
        let (cpu, deadline) = (sandbox.store.data().cpu.clone(), sandbox.store.data().deadline);
        let work = cpu.clone().run(enter(&self.parts, &mut sandbox, entry));
        let result = tokio::time::timeout_at((deadline + GRACE).into(), work).await;

        let wall = started.elapsed();
        let fuel = fuel::used(&sandbox.store, metering);
        let inside = sandbox.store.data_mut();
        let (last_words, log_lines, log_lines_dropped) = inside.log.end();
        let present = inside.present.take();
        // A page parses itself by the wall's clock, which a busy machine lets run ahead of the processor's.
        let host = inside.host_time.spent(cpu.total_polled()).min(cpu.total());
        let parse = parsed().saturating_sub(parsed_before).min(host);
        let metrics = CallMetrics {
            cpu: cpu.total(),
            host: host.saturating_sub(parse),
            parse,
            wall,
            fuel,
            memory_peak: inside.holdings.memory_peak,
            host_calls: present.as_ref().map_or(0, |present| present.host_calls),
            log_lines,
            log_lines_dropped,
        };
        let (effects, session) = present.map_or_else(Default::default, |present| {
            let (state_reads, state_ops) = present.state.into_parts();
            (Effects { state_reads, state_ops, ..present.draft.into_effects() }, present.ask)
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
        // What a script makes of it is an exception of its own.
        let answer = match answer {
            Ok(Answer::Ended(Err(_)) | Answer::Created(Err(_))) if circumstances.machine_refused => Err(CallFailure::starved()),
            answer => answer,
        };
        // One that was refused memory or table elements may have lost something by it, though its call ended by itself.
        let holdings = &sandbox.store.data().holdings;
        let whole = !(holdings.memory_refused || holdings.table_refused || holdings.machine_refused);
        let sandbox = (answer.is_ok() && whole).then_some(sandbox);
        (Ran { answer, effects, session, metrics }, sandbox)
    }

    /// A fresh sandbox, once there is room for it.
    pub(crate) async fn fresh(&self, limits: Limits) -> Result<Sandbox, CallFailure> {
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
            if sandbox.handler.is_none() {
                sandbox.handler = indices.handler(store, &instance)?;
            }
            match &sandbox.handler {
                Some(handler) => handler.call_handle(store, call).await.map(Answer::Ended),
                None => Ok(Answer::Absent),
            }
        }
        Entry::Failure(reason) => match indices.failure(store, &instance)? {
            Some(failure) => failure.call_on_failure(store, call, &reason).await.map(Answer::Ended),
            None => Ok(Answer::Absent),
        },
        Entry::Finish => match indices.finish(store, &instance)? {
            Some(finish) => finish.call_on_finish(store).await.map(Answer::Ended),
            None => Ok(Answer::Absent),
        },
        Entry::Subscriptions => match indices.listener(store, &instance)? {
            Some(listener) => listener.call_subscriptions(store).await.map(Answer::Subscribed),
            None => Ok(Answer::Absent),
        },
        Entry::Event(event) => match indices.listener(store, &instance)? {
            Some(listener) => listener.call_on_event(store, &event).await.map(Answer::Ended),
            None => Ok(Answer::Absent),
        },
        Entry::CreateSession => match indices.sessions(store, &instance)? {
            Some(sessions) => sessions.call_create(store).await.map(Answer::Created),
            None => Ok(Answer::Absent),
        },
        Entry::Process(items) => match indices.pipeline(store, &instance)? {
            Some(pipeline) => process(&pipeline, store, items).await.map(Answer::Processed),
            None => Ok(Answer::Absent),
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
pub(crate) fn given_up(error: GuestError) -> CallFailure {
    let info = ErrorInfo { code: word(&error.code), message: in_one_line(&error.message, 2_000) };
    match error.ending {
        Some(Ending::Retry) => CallFailure::Retry(info),
        Some(Ending::Skip) => CallFailure::Skip(info),
        Some(Ending::Fatal) | None => CallFailure::Fatal(info),
    }
}
