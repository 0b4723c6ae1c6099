//! `config`: what the operator gave the crawl. It is there also where there is no call, so that a plugin can subscribe to events and make
//! sessions by it.

use crate::bindings::nephila::crawler::config;
use crate::sandbox::Inside;

impl config::Host for Inside {
    fn input(&mut self) -> wasmtime::Result<String> {
        self.count();
        Ok(self.settings.as_ref().map_or_else(|| "null".to_owned(), |settings| settings.input_json.clone()))
    }

    fn setting(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        self.count();
        Ok(self.settings.as_ref().and_then(|settings| settings.settings.get(&name).cloned()))
    }
}

impl Inside {
    /// Counts a call of the host, if there is a call to count it to.
    fn count(&mut self) {
        if let Some(present) = &mut self.present {
            present.host_calls += 1;
        }
    }
}
