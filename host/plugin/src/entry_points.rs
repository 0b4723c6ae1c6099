//! Which entry points a component exports.
//!
//! Decision: the exports say it, nothing else does: an absent interface means "not subscribed", so that no list can disagree with the
//! code. Names are looked up once per component; that the types fit is found out with the first instance, at load.

use crate::bindings::exports::nephila::crawler::{failure, finish, handler, listener, manifest, pipeline, sessions};
use crate::sandbox::Inside;
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

/// The version of `nephila:crawler` that this host speaks.
pub(crate) const CONTRACT: &str = "0.1.0";

/// Which entry points a plugin has: a handler, a pipeline or a listener at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPoints {
    /// Whether it handles pages.
    pub handler: bool,
    /// Whether it describes itself.
    pub manifest: bool,
    /// Whether it hears of requests that are given up.
    pub failure: bool,
    /// Whether it hears of the end of the crawl.
    pub finish: bool,
    /// Whether it hears events.
    pub listener: bool,
    /// Whether it makes sessions.
    pub sessions: bool,
    /// Whether it looks at items on their way.
    pub pipeline: bool,
}

/// Where the entry points are in the component.
pub(crate) struct Indices {
    handler: Option<handler::GuestIndices>,
    manifest: Option<manifest::GuestIndices>,
    failure: Option<failure::GuestIndices>,
    finish: Option<finish::GuestIndices>,
    listener: Option<listener::GuestIndices>,
    sessions: Option<sessions::GuestIndices>,
    pipeline: Option<pipeline::GuestIndices>,
}

/// An entry point that is there, but not as the contract has it.
pub(crate) struct Mistyped {
    pub(crate) entry_point: &'static str,
    pub(crate) cause: String,
}

/// How the cause of a mistyped entry point begins. Only met while loading.
pub(crate) const MISTYPED: &str = "mistyped entry point ";

impl From<Mistyped> for wasmtime::Error {
    fn from(wrong: Mistyped) -> Self {
        Self::msg(format!("{MISTYPED}{}: {}", wrong.entry_point, wrong.cause))
    }
}

impl Mistyped {
    fn of(entry_point: &'static str) -> impl Fn(wasmtime::Error) -> Self {
        move |error| Self { entry_point, cause: crate::failure::one_line(&format!("{error:#}"), 400) }
    }
}

/// The full name of an entry point's interface.
pub(crate) fn interface(name: &str) -> String {
    format!("nephila:crawler/{name}@{CONTRACT}")
}

impl Indices {
    /// Looks the names up; none if there is no handler, no pipeline and no listener.
    pub(crate) fn new(pre: &InstancePre<Inside>) -> Result<Option<Self>, Mistyped> {
        let has = |name: &str| pre.component().get_export_index(None, interface(name)).is_some();
        if !["handler", "pipeline", "listener"].into_iter().any(has) {
            return Ok(None);
        }
        Ok(Some(Self {
            handler: has("handler").then(|| handler::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("handler"))?,
            manifest: has("manifest").then(|| manifest::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("manifest"))?,
            failure: has("failure").then(|| failure::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("failure"))?,
            finish: has("finish").then(|| finish::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("finish"))?,
            listener: has("listener").then(|| listener::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("listener"))?,
            sessions: has("sessions").then(|| sessions::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("sessions"))?,
            pipeline: has("pipeline").then(|| pipeline::GuestIndices::new(pre)).transpose().map_err(Mistyped::of("pipeline"))?,
        }))
    }

    /// Which there are.
    pub(crate) fn entry_points(&self) -> EntryPoints {
        EntryPoints {
            handler: self.handler.is_some(),
            manifest: self.manifest.is_some(),
            failure: self.failure.is_some(),
            finish: self.finish.is_some(),
            listener: self.listener.is_some(),
            sessions: self.sessions.is_some(),
            pipeline: self.pipeline.is_some(),
        }
    }

    /// The handler of an instance, if it has one. An entry point is taken when it is called: each costs a comparison of types.
    pub(crate) fn handler(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<handler::Guest>, Mistyped> {
        self.handler.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("handler"))
    }

    /// What describes the plugin, if it does.
    pub(crate) fn manifest(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<manifest::Guest>, Mistyped> {
        self.manifest.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("manifest"))
    }

    /// What hears of failures, if anything does.
    pub(crate) fn failure(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<failure::Guest>, Mistyped> {
        self.failure.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("failure"))
    }

    /// What hears of the end, if anything does.
    pub(crate) fn finish(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<finish::Guest>, Mistyped> {
        self.finish.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("finish"))
    }

    /// What hears events, if anything does.
    pub(crate) fn listener(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<listener::Guest>, Mistyped> {
        self.listener.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("listener"))
    }

    /// What makes sessions, if anything does.
    pub(crate) fn sessions(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<sessions::Guest>, Mistyped> {
        self.sessions.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("sessions"))
    }

    /// What looks at items, if anything does.
    pub(crate) fn pipeline(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<Option<pipeline::Guest>, Mistyped> {
        self.pipeline.as_ref().map(|indices| indices.load(store, instance)).transpose().map_err(Mistyped::of("pipeline"))
    }

    /// Whether all of them are of the types that the contract has.
    pub(crate) fn check(&self, store: &mut Store<Inside>, instance: &Instance) -> Result<(), Mistyped> {
        self.handler(store, instance)?;
        self.manifest(store, instance)?;
        self.failure(store, instance)?;
        self.finish(store, instance)?;
        self.listener(store, instance)?;
        self.sessions(store, instance)?;
        self.pipeline(store, instance)?;
        Ok(())
    }
}

/// Whether a name is of the contract, and then of which version.
pub(crate) fn contract_version(name: &str) -> Option<&str> {
    name.strip_prefix("nephila:crawler/")?.split_once('@').map(|(_, version)| version)
}

/// Whether a plugin made for a version may run here: below 1.0 the minor version must be the same, from then on the major one. (A
/// plugin of a later patch that uses what this host lacks is told so when it is linked.)
pub(crate) fn speaks(version: &str) -> bool {
    let track = |version: &str| {
        let mut parts = version.split(['.', '-', '+']).map(|part| part.parse::<u64>().ok());
        let (major, minor) = (parts.next().flatten()?, parts.next().flatten()?);
        Some(if major == 0 { (0, minor) } else { (major, 0) })
    };
    track(version).is_some() && track(version) == track(CONTRACT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_that_of_the_wit_folder() {
        let wit = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/worlds.wit")).expect("the contract");
        assert!(wit.starts_with(&format!("package nephila:crawler@{CONTRACT};")));
    }

    #[test]
    fn versions_of_one_track_are_spoken() {
        assert!(speaks("0.1.0") && speaks("0.1.7"));
        for other in ["0.2.0", "1.0.0", "0", "", "x.y.z"] {
            assert!(!speaks(other), "{other}");
        }
        assert_eq!(contract_version("nephila:crawler/page@0.2.0"), Some("0.2.0"));
        assert_eq!(contract_version("wasi:io/poll@0.2.0"), None);
    }
}
