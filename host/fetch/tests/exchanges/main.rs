//! The fetcher against real sockets on loopback.

#![allow(clippy::expect_used, clippy::panic, reason = "test support: an exchange that cannot be set up ends the test")]

mod failures;
mod guard;
mod pages;
mod redirects;
mod requests;
mod server;
