//! Log lines. The host adds the plugin's name, the request and the page.
//!
//! The macros [`trace!`](crate::trace), [`debug!`](crate::debug), [`info!`](crate::info), [`warn!`](crate::warn) and
//! [`error!`](crate::error) take what `format!` takes; [`with_fields`] adds data to a line.

use serde::Serialize;

use crate::bindings::imports::nephila::crawler::log as wit;

/// How urgent a line is.
pub use crate::bindings::imports::nephila::crawler::log::Level;

/// Writes a line with data, which must become a JSON object: `log::with_fields(Level::Warn, "odd price", &json!({…}))`.
pub fn with_fields<T: Serialize + ?Sized>(level: Level, message: &str, fields: &T) {
    let fields = serde_json::to_string(fields).ok();
    wit::write(level, message, fields.as_deref());
}

/// Writes a line; the macros call it.
#[doc(hidden)]
pub fn write(level: Level, message: &str, fields: Option<&str>) {
    wit::write(level, message, fields);
}

/// Writes a log line of level trace.
#[macro_export]
macro_rules! trace {
    ($($what:tt)*) => { $crate::log::write($crate::log::Level::Trace, &::std::format!($($what)*), None) };
}

/// Writes a log line of level debug.
#[macro_export]
macro_rules! debug {
    ($($what:tt)*) => { $crate::log::write($crate::log::Level::Debug, &::std::format!($($what)*), None) };
}

/// Writes a log line of level info.
#[macro_export]
macro_rules! info {
    ($($what:tt)*) => { $crate::log::write($crate::log::Level::Info, &::std::format!($($what)*), None) };
}

/// Writes a log line of level warn.
#[macro_export]
macro_rules! warn {
    ($($what:tt)*) => { $crate::log::write($crate::log::Level::Warn, &::std::format!($($what)*), None) };
}

/// Writes a log line of level error.
#[macro_export]
macro_rules! error {
    ($($what:tt)*) => { $crate::log::write($crate::log::Level::Error, &::std::format!($($what)*), None) };
}
