//! From an author's source to a component.
//!
//! Decision: what builds a plugin is the language's own tool (cargo, the drivers of the SDKs, clang), and all that is known about finding it,
//! calling it, and saying what it said is here: `nephila new`, `nephila build`, `nephila run SOURCE` and `cargo xtask` use the same. The
//! contract and the SDKs are inside of the program, so that it needs no checkout and only the tools themselves need a network, once.
//!
//! | what | where |
//! |---|---|
//! | a new project | [`scaffold`] |
//! | which language a path is, and its main file | [`Source`] |
//! | building | [`Builder`] |
//! | what was built before | [`Builder::cached`] |
//! | what goes wrong | [`BuildError`] |
//!
//! Everything here blocks, since other programs run; on an asynchronous runtime it belongs on a thread of its own.

mod builder;
mod c;
mod cache;
pub mod component;
mod driver;
mod error;
mod folders;
mod inputs;
mod javascript;
mod language;
pub mod process;
mod python;
mod record;
pub mod rust;
pub mod scaffold;
mod sdk;
mod source;
mod tools;

pub use builder::{Builder, Built, Freshness, Missing};
pub use error::{BuildError, Fault, Stage};
pub use folders::Folders;
pub use inputs::Snapshot;
pub use language::Language;
pub use sdk::{is_current as sdk_is_current, unpack as unpack_sdk};
pub use source::{Source, is_source};
pub use tools::Installation;
