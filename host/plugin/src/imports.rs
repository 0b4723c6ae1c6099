//! What plugins may call, one file per interface of the contract.
//!
//! Decision: a host function checks, and notes an effect; none of them writes anything. Grants are checked when it is called, not
//! only when it is linked, since script toolchains import everything.

mod config;
mod context;
mod crawl;
mod dataset;
pub(crate) mod events;
mod key_value;
mod log;
mod page;
mod queue;
mod requests;
pub(crate) mod session;
mod state;

use crate::failure::Stop;
use crate::fault::Fault;
use crate::reads::ReadError;
use crate::sandbox::{Inside, wall_spent};
use std::future::Future;

/// What a plugin's handle of a document stands for: the page of the call that its number names.
pub struct DocumentHandle;

/// What a plugin's handle of a call stands for: the call that its number names.
pub struct CallHandle;

impl Inside {
    /// Waits for the store, but not beyond the call's time.
    pub(crate) async fn wait<T>(&mut self, read: impl Future<Output = Result<T, ReadError>>) -> Result<T, Fault> {
        match tokio::time::timeout_at(self.deadline.into(), read).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error @ ReadError::BadCursor(_))) => Err(Fault::refused("bad-cursor", error.to_string())),
            Ok(Err(ReadError::Store(cause))) => Err(Stop::Host(format!("the store could not be read: {cause}")).into()),
            Err(_) => Err(wall_spent(self.limits).into()),
        }
    }
}
