//! One sandbox: a store of its own, with everything that a plugin may touch inside it.
//!
//! Decision: what the host functions work on is [`Inside`], the data of the wasmtime store. It serves one call at a time; a call's
//! handles carry the call's number and nothing else, so that the host drops a call's resources by counting on: a handle that a
//! garbage collector lets go later, or never, is no error and reaches nothing.

use crate::call::{Call, CallSettings};
use crate::draft::Draft;
use crate::failure::{LimitKind, Stop};
use crate::fault::Fault;
use crate::host_time::HostTime;
use crate::limits::{Holdings, Limits};
use crate::logs::Log;
use crate::meter::CpuMeter;
use crate::patterns::PatternCache;
use crate::session::SessionAsk;
use crate::state_view::StateView;
use crate::wasi::Wasi;
use nephila_page::{ParsedPage, SelectorCache};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{Engine, Store, UpdateDeadline};

/// What all sandboxes of a host share.
pub(crate) struct Shared {
    pub(crate) selectors: SelectorCache,
    pub(crate) patterns: PatternCache,
}

/// What is inside a sandbox.
pub(crate) struct Inside {
    pub(crate) shared: Arc<Shared>,
    pub(crate) log: Log,
    pub(crate) holdings: Holdings,
    pub(crate) cpu: Arc<CpuMeter>,
    pub(crate) host_time: HostTime,
    pub(crate) wasi: Wasi,
    pub(crate) limits: Limits,
    /// When the call must have ended.
    pub(crate) deadline: Instant,
    /// The number of the present call; handles carry it.
    pub(crate) number: u32,
    /// The present call; none while a plugin describes itself, says what it wants to hear, or makes a session.
    pub(crate) present: Option<Present>,
    /// What the operator gave the crawl; none while a plugin describes itself.
    pub(crate) settings: Option<Arc<CallSettings>>,
    /// The events that a listener's instance hears.
    pub(crate) hears: BTreeSet<String>,
}

/// What a sandbox is entered for.
pub(crate) enum Occasion {
    /// A call of a crawl.
    Call(Call),
    /// An event of a crawl, with its id.
    Event { call: Call, id: Arc<str> },
    /// Items of a call that has ended.
    Items(Call),
    /// No call, but what the operator gave the crawl is there.
    Settings(Arc<CallSettings>),
    /// No crawl at all.
    Nothing,
}

impl Occasion {
    /// The page in hand.
    pub(crate) fn page(&self) -> Option<Arc<ParsedPage>> {
        match self {
            Self::Call(call) => call.page.clone(),
            Self::Event { .. } | Self::Items(_) | Self::Settings(_) | Self::Nothing => None,
        }
    }
}

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Everything,
    /// Keep state, and decide about the items that it is given: what it pushed or enqueued would itself be to be looked at.
    Items,
}

/// A call that runs.
pub(crate) struct Present {
    pub(crate) call: Call,
    pub(crate) scope: Scope,
    pub(crate) draft: Draft,
    pub(crate) state: StateView,
    pub(crate) ask: SessionAsk,
    /// The event that is heard, by its id; none if the call is no listener's.
    pub(crate) event: Option<Arc<str>>,
    pub(crate) host_calls: u64,
    /// Documents that the plugin holds.
    pub(crate) documents: usize,
}

impl Present {
    fn new(call: Call, event: Option<Arc<str>>) -> Self {
        let limits = call.settings.limits;
        let (draft, state) = (Draft::new(limits), StateView::after(limits, &call.earlier));
        let (scope, ask) = (Scope::Everything, SessionAsk::default());
        Self { draft, state, scope, ask, event, host_calls: 0, documents: 0, call }
    }

    fn of_items(call: Call) -> Self {
        Self { scope: Scope::Items, ..Self::new(call, None) }
    }
}

impl Inside {
    /// The present call, for a host function that needs one.
    pub(crate) fn present(&mut self) -> Result<&mut Present, Fault> {
        let present = self.present.as_mut().ok_or_else(|| {
            let message = "there is no crawl here: a plugin describes itself, subscribes and makes sessions without one; ask from a handler";
            Fault::refused("denied", message)
        })?;
        present.host_calls += 1;
        Ok(present)
    }

    /// The same, for what has an effect that a pipeline may not have.
    pub(crate) fn acting(&mut self) -> Result<&mut Present, Fault> {
        let present = self.present()?;
        match present.scope {
            Scope::Everything => Ok(present),
            Scope::Items => Err(Fault::refused(
                "not-in-pipeline",
                "a pipeline decides about the item that it is given, and keeps state: it pushes no items, enqueues no requests, writes no \
                 values and emits no events; let a handler do that",
            )),
        }
    }

    /// Begins a call in this sandbox.
    fn begin(&mut self, occasion: Occasion, limits: Limits) {
        let (present, settings) = match occasion {
            Occasion::Call(call) => (Some(Present::new(call, None)), None),
            Occasion::Event { call, id } => (Some(Present::new(call, Some(id))), None),
            Occasion::Items(call) => (Some(Present::of_items(call)), None),
            Occasion::Settings(settings) => (None, Some(settings)),
            Occasion::Nothing => (None, None),
        };
        let url = present.as_ref().map_or("", |present| present.call.url());
        self.log.begin(url, limits.log_lines, limits.log_bytes);
        self.limits = limits;
        self.holdings.begin(limits);
        self.cpu.reset();
        self.host_time.reset();
        self.deadline = Instant::now() + limits.wall;
        self.number = self.number.wrapping_add(1);
        self.settings = settings.or_else(|| Some(Arc::clone(&present.as_ref()?.call.settings)));
        self.present = present;
    }

    /// Whether the call may go on. Asked at every tick.
    fn check(&self) -> Result<(), Stop> {
        let spent = self.cpu.spent();
        if spent > self.limits.cpu {
            return Err(cpu_spent(self.limits));
        }
        if Instant::now() > self.deadline {
            return Err(wall_spent(self.limits));
        }
        Ok(())
    }

    /// Before work that the host does without asking a clock: whether there is any time left for it.
    pub(crate) fn check_time(&self) -> Result<(), Fault> {
        self.check().map_err(Fault::from)
    }
}

fn cpu_spent(limits: Limits) -> Stop {
    let allowed = limits.cpu.as_millis();
    Stop::Limit(
        LimitKind::Cpu,
        format!("the plugin used its {allowed} ms of processor time; let it do less per page, or raise the setting `plugin-cpu`"),
    )
}

pub(crate) fn wall_spent(limits: Limits) -> Stop {
    let allowed = limits.wall.as_millis();
    Stop::Limit(
        LimitKind::Wall,
        format!("the call took longer than its {allowed} ms; let it do less per page, or raise the setting `plugin-time`"),
    )
}

/// Makes a sandbox. Nothing runs in it before a call has begun.
pub(crate) fn store(engine: &Engine, shared: Arc<Shared>, name: Arc<str>, limits: Limits) -> Store<Inside> {
    let log = Log::new(name);
    let inside = Inside {
        shared,
        wasi: Wasi::new(log.clone(), limits.resources),
        log,
        holdings: Holdings::new(limits),
        cpu: Arc::new(CpuMeter::default()),
        host_time: HostTime::default(),
        limits,
        deadline: Instant::now() + limits.wall,
        number: 0,
        present: None,
        settings: None,
        hears: BTreeSet::new(),
    };
    let mut store = Store::new(engine, inside);
    store.call_hook(|mut store, border| {
        let inside = store.data_mut();
        inside.host_time.cross(border, inside.cpu.polled());
        Ok(())
    });
    store.limiter(|inside| &mut inside.holdings);
    store.epoch_deadline_callback(|store| {
        store.data().check()?;
        // Each tick gives way to others; a plugin that computes cannot keep a worker for itself.
        Ok(UpdateDeadline::Yield(1))
    });
    store
}

/// Begins a call in a sandbox: its own limits, budget and number.
pub(crate) fn begin(store: &mut Store<Inside>, occasion: Occasion, limits: Limits) {
    store.data_mut().begin(occasion, limits);
    store.set_hostcall_fuel(limits.host_call_fuel);
    store.set_max_component_handles(limits.handles);
    store.set_epoch_deadline(1);
}

impl wasmtime_wasi::WasiView for Inside {
    fn ctx(&mut self) -> wasmtime_wasi::WasiCtxView<'_> {
        self.wasi.view()
    }
}
