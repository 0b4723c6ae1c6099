//! One page through a plugin, for its author.
//!
//! Decision: a trial is a call of a crawl, with the same sandbox and the same checks, over a small world of its own instead of a store: what
//! it comes to is shown and compared, and nothing is kept. What is shown is JSON of one form ([`Seen`]), which is also what fixtures
//! expect, so that one can become the other.
//!
//! Where to look: the file format, `fixture.rs`; how files are read and written, `files.rs`; how it becomes a call, `scene.rs`; what a plugin may read in it, `world.rs`; how what
//! came of it is written, `seen.rs`; what is expected and how it is compared, `expect.rs`.

mod differences;
mod expect;
pub mod files;
mod fixture;
mod scene;
mod seen;
mod session;
mod world;

pub use differences::Difference;
pub use expect::{Bounds, Count, Expected, ExpectedError};
pub use fixture::{Entry, Failure, Fixture, FixtureError, KeptValue, Request, Session};
pub use scene::{Scene, queued};
pub use seen::Seen;
pub use world::World;
