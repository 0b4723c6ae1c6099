//! From a core module to a component, and what a component asks for and offers.

use crate::BuildError;
use std::path::Path;
use wasmparser::{BinaryReaderError, Parser, Payload};
use wit_component::ComponentEncoder;

/// Whose interfaces a plugin may import.
const CONTRACT: &str = "nephila:crawler/";

/// And of WASI what costs nothing: a plugin that waits for a clock. Of the rest each import means that a toolchain has brought in more
/// than these plugins want.
const CLOCKS: [&str; 2] = ["wasi:io/poll@0.2.", "wasi:clocks/monotonic-clock@0.2."];

/// What a component asks for and offers, by name.
#[derive(Debug, Default)]
pub struct Surface {
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// Those that it exports.
    pub exports: Vec<String>,
}

/// Encodes a core module, which carries the type of its component in a custom section.
///
/// # Errors
/// If the file cannot be read, or is no such module.
pub fn encode(module: &Path) -> Result<Vec<u8>, BuildError> {
    let bytes = std::fs::read(module).map_err(|cause| BuildError::file(module, "read", cause))?;
    let encoded = ComponentEncoder::default().validate(true).module(&bytes).and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| BuildError::program(format!("{} cannot be made a component", module.display()), format!("{error:#}")))
}

/// Reads the names that a component imports and exports.
///
/// # Errors
/// If the bytes are no WebAssembly.
pub fn surface(component: &[u8]) -> Result<Surface, BinaryReaderError> {
    let mut surface = Surface::default();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    surface.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    surface.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(surface)
}

impl Surface {
    /// What is imported beyond the contract and clocks.
    pub fn unexpected(&self) -> Vec<&str> {
        let is_expected = |name: &str| name.starts_with(CONTRACT) || CLOCKS.iter().any(|clock| name.starts_with(clock));
        self.imports.iter().map(String::as_str).filter(|name| !is_expected(name)).collect()
    }

    /// One line for people, without the name and version of the contract.
    pub fn describe(&self) -> String {
        format!("exports {}; imports {}", short(&self.exports), short(&self.imports))
    }
}

fn short(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let short = |name: &String| match name.strip_prefix(CONTRACT) {
        Some(rest) => rest.split('@').next().unwrap_or(rest).to_owned(),
        None => name.clone(),
    };
    names.iter().map(short).collect::<Vec<_>>().join(", ")
}
