//! `log`: lines for people.

use crate::bindings::nephila::crawler::log;
use crate::logs::Level;
use crate::sandbox::Inside;

impl log::Host for Inside {
    fn write(&mut self, level: log::Level, message: String, fields: Option<String>) -> wasmtime::Result<()> {
        if let Some(present) = &mut self.present {
            present.host_calls += 1;
        }
        let level = match level {
            log::Level::Trace => Level::Trace,
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
        };
        self.log.write(level, &message, fields.as_deref());
        Ok(())
    }
}
