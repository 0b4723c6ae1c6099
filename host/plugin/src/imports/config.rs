//! `config`: what the operator gave the crawl.

use crate::bindings::nephila::crawler::config;
use crate::sandbox::Inside;

impl config::Host for Inside {
    fn input(&mut self) -> wasmtime::Result<String> {
        Ok(self.present().map_or_else(|_| "null".to_owned(), |present| present.call.settings.input_json.clone()))
    }

    fn setting(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        Ok(self.present().ok().and_then(|present| present.call.settings.settings.get(&name).cloned()))
    }
}
