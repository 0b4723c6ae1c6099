//! WASI for components that import it, used or not: everything that reaches out is refused.
//!
//! Decision: script toolchains import whole WASI, so that it is linked; but there are no files, no environment, no arguments, no
//! sockets and no names, standard input is closed, the other two streams are log lines, clocks tick every 10 ms, and random
//! numbers come in small portions. `wasi:http` is not linked at all. The context is made at a component's first WASI call, so that
//! one that calls none pays nothing.

use crate::logs::{Log, Stream};
use bytes::Bytes;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// The packages that are linked, of the 0.2 line.
const LINKED: [&str; 6] = ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// How fine clocks are.
const TICK: Duration = Duration::from_millis(10);

/// Bytes of random numbers that one WASI call gives; it may be called again.
const RANDOM: u64 = 64 << 10;

/// Bytes of one write to a standard stream.
const WRITE: usize = 4_096;

/// Whether an import is one that [`link`] provides.
pub(crate) fn provides(import: &str) -> bool {
    LINKED.iter().any(|package| import.starts_with(package)) && import.contains("@0.2.")
}

/// Links what is provided.
pub(crate) fn link<T: WasiView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)
}

/// The WASI of one sandbox, made when it is first used.
pub(crate) struct Wasi {
    context: Option<WasiCtx>,
    table: ResourceTable,
    log: Log,
}

impl Wasi {
    pub(crate) fn new(log: Log, capacity: usize) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(capacity);
        Self { context: None, table, log }
    }

    pub(crate) fn view(&mut self) -> WasiCtxView<'_> {
        let log = &self.log;
        WasiCtxView { ctx: self.context.get_or_insert_with(|| context(log)), table: &mut self.table }
    }
}

// The builder's defaults are what is wanted (no files, sockets, names, environment, arguments or input); what matters is said.
fn context(log: &Log) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(RANDOM)
        .wall_clock(Coarse)
        .monotonic_clock(CoarseSince(Instant::now()))
        .stdout(Lines { log: log.clone(), stream: Stream::Output })
        .stderr(Lines { log: log.clone(), stream: Stream::Error });
    builder.build()
}

struct Coarse;

impl HostWallClock for Coarse {
    fn resolution(&self) -> Duration {
        TICK
    }

    fn now(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Duration::from_millis(coarse(now.as_millis()))
    }
}

struct CoarseSince(Instant);

impl HostMonotonicClock for CoarseSince {
    fn resolution(&self) -> u64 {
        TICK.as_nanos() as u64
    }

    fn now(&self) -> u64 {
        coarse(self.0.elapsed().as_millis()) * 1_000_000
    }
}

fn coarse(millis: u128) -> u64 {
    let tick = TICK.as_millis();
    u64::try_from(millis / tick * tick).unwrap_or(u64::MAX)
}

/// A standard stream whose lines go to the log.
#[derive(Clone)]
struct Lines {
    log: Log,
    stream: Stream,
}

impl IsTerminal for Lines {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Lines {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

#[async_trait::async_trait]
impl Pollable for Lines {
    async fn ready(&mut self) {}
}

impl OutputStream for Lines {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.log.take(self.stream, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_reach_out_is_provided() {
        assert!(provides("wasi:cli/stderr@0.2.9") && provides("wasi:sockets/tcp@0.2.0"));
        for other in ["wasi:http/outgoing-handler@0.2.0", "wasi:cli/run@0.3.0", "wasi:keyvalue/store@0.2.0", "env"] {
            assert!(!provides(other), "{other}");
        }
    }

    #[test]
    fn clocks_are_coarse() {
        assert_eq!(coarse(1_239), 1_230);
        assert_eq!(Coarse.now().subsec_nanos() % 10_000_000, 0);
        assert_eq!(CoarseSince(Instant::now()).now() % 10_000_000, 0);
    }
}
