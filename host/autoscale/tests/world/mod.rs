//! A system in simulated time, with the controller in the loop: requests that wait for a site and then need a processor, and hold
//! memory.

use nephila_autoscale::{
    AutoscaleSettings, Bounds, Controller, CpuInfo, Demand, MemoryInfo, Observations, Snapshotter, SystemInfo, Workload,
};
use nephila_model::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::{Duration, Instant};

/// What the system is like. May be changed while it runs.
#[derive(Debug, Clone)]
pub struct World {
    /// Seconds that a site takes to answer, on average.
    pub answer: f64,
    /// How answers scatter.
    pub scatter: Scatter,
    /// With more in flight than these, sites take longer …
    pub knee: f64,
    /// … by the number over the knee to this power. 1: throughput is flat beyond the knee; more: it falls.
    pub steepness: f64,
    /// Seconds of a processor that a request needs once it is answered.
    pub work: f64,
    /// Processors.
    pub processors: f64,
    /// Whether something else keeps the processors busy, without taking them from us.
    pub looks_busy: bool,
    /// Bytes in millions that a request holds in the end, the longer it is in flight the more. What is given back the allocator
    /// keeps for some seconds.
    pub holds: f64,
    /// Those that are always held.
    pub base: f64,
    /// Those that there are.
    pub memory: f64,
    /// Requests that become ready in a second.
    pub ready: f64,
}

/// How times scatter.
#[derive(Debug, Clone, Copy)]
pub enum Scatter {
    /// Not at all.
    None,
    /// Between a half and one and a half times.
    Even,
    /// As waiting times do: most are short, some very long.
    Exponential,
}

impl Default for World {
    fn default() -> Self {
        Self {
            answer: 0.2,
            scatter: Scatter::Even,
            knee: f64::INFINITY,
            steepness: 1.0,
            work: 0.0,
            processors: 2.0,
            looks_busy: false,
            holds: 0.0,
            base: 20.0,
            memory: 1_000.0,
            ready: f64::INFINITY,
        }
    }
}

/// What was seen in one second.
#[derive(Debug, Clone, Copy)]
pub struct Second {
    pub limit: usize,
    pub completed: u64,
    pub memory: f64,
}

/// The world and all that looks at it.
pub struct Simulation {
    pub world: World,
    pub seconds: Vec<Second>,
    start: Instant,
    now: f64,
    controller: Controller,
    snapshots: Snapshotter,
    workload: Workload,
    running: BTreeMap<u64, f64>,
    launched: u64,
    events: BinaryHeap<Reverse<(u64, u64, bool)>>,
    ready: f64,
    processor_free: f64,
    processor_booked: f64,
    processor_used: f64,
    completed: u64,
    resident: f64,
    peak: f64,
    random: u64,
}

/// Another run of chance, if `NEPHILA_SEED` is set to a number.
fn seed() -> u64 {
    std::env::var("NEPHILA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

/// Ten looks a second.
const STEP: f64 = 0.1;

impl Simulation {
    pub fn new(world: World, least: usize, most: usize) -> Self {
        let start = Instant::now();
        let bounds = Bounds::new(least.try_into().unwrap(), most.try_into().unwrap()).unwrap();
        Self {
            world,
            seconds: Vec::new(),
            start,
            now: 0.0,
            controller: Controller::new(bounds, start),
            snapshots: Snapshotter::new(&AutoscaleSettings::default()),
            workload: Workload::new(start),
            running: BTreeMap::new(),
            launched: 0,
            events: BinaryHeap::new(),
            ready: 0.0,
            processor_free: 0.0,
            processor_booked: 0.0,
            processor_used: 0.0,
            completed: 0,
            resident: 0.0,
            peak: 0.0,
            random: seed(),
        }
    }

    /// Lets time pass.
    pub fn run(&mut self, seconds: usize) {
        for _ in 0..seconds {
            for _ in 0..10 {
                self.step();
            }
            self.look();
        }
    }

    pub fn settled(&self) -> usize {
        self.controller.decision().concurrency
    }

    /// How often the concurrency changed from one second to another.
    pub fn changes(&self, from: usize) -> usize {
        self.seconds[from..].windows(2).filter(|pair| pair[0].limit != pair[1].limit).count()
    }

    /// Requests completed in a second, on average.
    pub fn throughput(&self, from: usize) -> f64 {
        let seconds = &self.seconds[from..];
        seconds.iter().map(|second| second.completed as f64).sum::<f64>() / seconds.len() as f64
    }

    /// The median of the concurrency: trials do not count.
    pub fn median_limit(&self, from: usize) -> usize {
        let mut limits: Vec<usize> = self.seconds[from..].iter().map(|second| second.limit).collect();
        limits.sort_unstable();
        limits[limits.len() / 2]
    }

    /// The mean concurrency.
    pub fn mean_limit(&self, from: usize) -> f64 {
        let seconds = &self.seconds[from..];
        seconds.iter().map(|second| second.limit as f64).sum::<f64>() / seconds.len() as f64
    }

    pub fn peak_memory(&self, from: usize) -> f64 {
        self.seconds[from..].iter().map(|second| second.memory).fold(0.0, f64::max)
    }

    /// For a failed expectation: the concurrency at each change.
    pub fn story(&self) -> String {
        let mut story = String::new();
        for (second, pair) in self.seconds.windows(2).enumerate() {
            if pair[0].limit != pair[1].limit {
                story.push_str(&format!("{}s {} ({}/s) -> {}\n", second + 1, pair[0].limit, pair[0].completed, pair[1].limit));
            }
        }
        story
    }

    fn at(&self, seconds: f64) -> Instant {
        self.start + Duration::from_secs_f64(seconds)
    }

    fn step(&mut self) {
        let end = self.now + STEP;
        self.ready = (self.ready + self.world.ready * STEP).min(1e6);
        self.dispatch();
        while let Some(Reverse((nanos, request, answered))) = self.events.peek().copied() {
            let when = nanos as f64 / 1e9;
            if when > end {
                break;
            }
            self.events.pop();
            self.now = when.max(self.now);
            if answered {
                self.work_on(request)
            } else {
                self.end(request)
            }
            self.dispatch();
        }
        self.now = end;
        self.resident = self.held().max(self.resident - self.resident * 0.1 * STEP);
        self.peak = self.peak.max(self.resident);
    }

    fn dispatch(&mut self) {
        let limit = self.settled();
        while self.running.len() < limit && self.ready >= 1.0 {
            self.ready -= 1.0;
            self.launched += 1;
            self.running.insert(self.launched, self.now);
            let crowd = (self.running.len() as f64 / self.world.knee).max(1.0).powf(self.world.steepness);
            let answer = self.world.answer * crowd * self.scatter();
            self.schedule(self.now + answer, self.launched, true);
        }
        let demand = if self.ready >= 1.0 { Demand::HeldBack } else { Demand::Met };
        self.workload.note(self.at(self.now), self.running.len(), demand);
    }

    // One queue for all processors, each request on all of them at once.
    fn work_on(&mut self, request: u64) {
        let takes = self.world.work * self.scatter() / self.world.processors;
        self.processor_free = self.processor_free.max(self.now) + takes;
        self.processor_booked += takes;
        self.schedule(self.processor_free, request, false);
    }

    fn end(&mut self, request: u64) {
        let began = self.running.remove(&request).unwrap();
        self.completed += 1;
        self.workload.completed(Duration::from_secs_f64((self.now - began).max(0.0)));
    }

    fn look(&mut self) {
        let now = self.at(self.now);
        let backlog = (self.processor_free - self.now).max(0.0);
        let used = self.processor_booked - backlog;
        let busy = if self.world.looks_busy { 1.0 } else { (used - self.processor_used).clamp(0.0, 1.0) };
        self.processor_used = used;
        let bytes = |millions: f64| (millions * 1e6) as u64;
        let memory = bytes(self.resident);
        let total = bytes(self.world.memory);
        let info = SystemInfo {
            at: Timestamp::EPOCH,
            cpu: CpuInfo { used_ratio: busy, own_ratio: busy, cores: self.world.processors },
            memory: MemoryInfo { current: memory, total, system_wide_used: memory, allowed: total },
        };
        self.snapshots.record_system(now, &info);
        self.snapshots.record_event_loop(now, Duration::from_millis(if backlog > 0.05 { 80 } else { 1 }));
        let work = self.workload.take(now);
        self.controller.tick(now, &Observations::new(work, &self.snapshots));
        self.seconds.push(Second { limit: self.settled(), completed: self.completed, memory: self.peak });
        (self.completed, self.peak) = (0, 0.0);
    }

    fn held(&self) -> f64 {
        let share = |began: &f64| ((self.now - began) / self.world.answer).clamp(0.0, 1.0);
        self.world.base + self.running.values().map(|began| self.world.holds * share(began)).sum::<f64>()
    }

    fn schedule(&mut self, at: f64, request: u64, answered: bool) {
        self.events.push(Reverse(((at * 1e9) as u64, request, answered)));
    }

    fn scatter(&mut self) -> f64 {
        match self.world.scatter {
            Scatter::None => 1.0,
            Scatter::Even => 0.5 + self.uniform(),
            Scatter::Exponential => -(1.0 - self.uniform()).ln(),
        }
    }

    // The generator splitmix64, so that a run can be repeated.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((b ^ (b >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
