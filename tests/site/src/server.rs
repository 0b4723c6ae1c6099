//! The socket side: listen, serve, stop.
//!
//! One task accepts, one task per connection serves. Stopping drops all of them at once, as a server that dies would: a test
//! that wants its answers waits for them first.

use crate::answer::{Served, State};
use crate::bookshop::{Bookshop, LISTINGS};
use crate::config::{Content, SiteConfig};
use crate::error::SiteError;
use crate::faults::Faults;
use crate::files::Folder;
use crate::gate::{Gate, GateStats};
use crate::heavy::Heavy;
use crate::mesh::Mesh;
use crate::pages::{Origin, Pages};
use crate::plan::PagePlan;
use crate::practice::Practice;
use crate::seed::Seed;
use crate::stats::{Counters, Stats};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// The way to start a site.
pub struct Site;

impl Site {
    /// Builds the pages, listens on 127.0.0.1, and serves on the current runtime until [`Running::stop`] or drop.
    pub async fn start(config: SiteConfig) -> Result<Running, SiteError> {
        config.check()?;
        let SiteConfig { port, content, switches } = config;
        let failed = |source| SiteError::Listen { port, source };
        // The port comes first: absolute links contain it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let origin = Origin { port: address.port(), absolute: switches.off_site_redirects };
        let (seed, gzip) = (Seed(switches.seed), switches.gzip);
        // The practice site tells its visitors apart whether it is asked to or not: a login is one's own.
        let knows_visitors = switches.visitors || content == Content::Practice;
        let served = match content {
            Content::Files(path) => Served::Files(Arc::new(Folder::open(&path)?)),
            Content::Bookshop => {
                let faults = Faults::new(switches.clone(), LISTINGS + crate::bookshop::BOOKS, LISTINGS);
                let shop = Bookshop::build(seed, origin, &faults, gzip);
                Served::Pages { pages: Pages::Bookshop(shop), faults: Box::new(faults) }
            }
            Content::Mesh(shape) => {
                let faults = Faults::new(switches.clone(), shape.pages, 1);
                let mesh = Mesh::build(shape, seed, origin, &faults, gzip);
                Served::Pages { pages: Pages::Mesh(mesh), faults: Box::new(faults) }
            }
            Content::Heavy(shape) => {
                let faults = Faults::new(switches.clone(), shape.pages, 1);
                let heavy = Heavy::build(shape, seed, origin, &faults, gzip);
                Served::Pages { pages: Pages::Heavy(heavy), faults: Box::new(faults) }
            }
            Content::Practice => {
                let faults = Faults::new(switches.clone(), Practice::PAGES, 1);
                let practice = Practice::build(seed, origin, &faults, gzip);
                Served::Pages { pages: Pages::Practice(practice), faults: Box::new(faults) }
            }
        };
        let gate = knows_visitors.then(|| Gate::new(switches.block_every));
        let state = Arc::new(State { switches, origin, served, counters: Counters::new(), gate });
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(listener, Arc::clone(&state), stopped));
        Ok(Running { address, state, stop, task })
    }
}

/// A site that serves. Dropping it stops it soon; [`Running::stop`] waits until it has.
pub struct Running {
    address: SocketAddr,
    state: Arc<State>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    /// `http://127.0.0.1:PORT/`.
    pub fn url(&self) -> String {
        self.state.origin.on("127.0.0.1", "/")
    }

    /// Where a crawl should start: [`Running::url`], but for a mesh of several sites `http://s0.localhost:PORT/`.
    pub fn start_url(&self) -> String {
        match &self.state.served {
            Served::Pages { pages, .. } => match pages.url(0, self.state.origin) {
                path if path.starts_with('/') => self.url(),
                absolute => absolute,
            },
            Served::Files(_) => self.url(),
        }
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    pub fn stats(&self) -> Stats {
        self.state.counters.stats(true)
    }

    /// What its gate has seen; nothing if it does not know its visitors.
    pub fn gate(&self) -> GateStats {
        self.state.gate.as_ref().map(Gate::stats).unwrap_or_default()
    }

    /// Zeroes the statistics and the tries of failing and broken pages.
    pub fn reset(&self) {
        self.state.reset();
    }

    /// What every page does to its visitors, `/` first; empty for a folder of files.
    pub fn plan(&self) -> Vec<PagePlan> {
        self.state.plan()
    }

    /// Stops and waits until the port is free and all connections are closed.
    pub async fn stop(self) {
        drop(self.stop);
        // An error would be a task that is gone already.
        let _ = self.task.await;
    }
}

async fn serve(listener: TcpListener, state: Arc<State>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&state)));
                }
                // Out of sockets, most likely; some will be free in a moment.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
    drop(listener);
    connections.shutdown().await;
}

async fn converse(stream: TcpStream, state: Arc<State>) {
    // Without it small answers wait for the client's acknowledgement; where it cannot be set they are merely slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let state = &state;
        async move { Ok::<_, Infallible>(state.answer(request).await) }
    });
    // Errors are clients that went away, and bodies that are broken on purpose.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
