//! What is generated from `wit/`.
//!
//! - `nephila/nephila_wit.{h,c}`: wit-bindgen's C bindings of every entry point. `nephila.c` includes them with their exports switched off.
//! - `nephila/nephila_types.h`: for each entry point a macro that puts the piece of the component's type that names it into a custom
//!   section. A component must export every interface of its world, and the host takes an absent one for "not subscribed"; so each
//!   piece has a tiny world of its own, comes in with the macro of its entry point, and the encoder merges the pieces.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::{Resolve, WorldId, WorldItem, WorldKey};
use wit_component::StringEncoding;

/// The world whose exports are all entry points.
const EVERY: &str = "every-entry-point";

/// The generated files that are not as they should be, by their name in the SDK's folder.
pub(crate) fn stale(sdk: &Path) -> Result<Vec<(String, String)>> {
    let mut files = generate(&sdk.join("../../wit"))?;
    files.retain(|(name, content)| std::fs::read_to_string(sdk.join(name)).ok().as_ref() != Some(content));
    Ok(files)
}

fn generate(wit: &Path) -> Result<Vec<(String, String)>> {
    let (resolve, every) = contract(wit)?;
    let mut files = c_bindings(resolve.clone(), every)?;
    files.push(("nephila/nephila_types.h".to_owned(), types(&resolve, every)?));
    Ok(files)
}

fn contract(wit: &Path) -> Result<(Resolve, WorldId)> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).with_context(|| format!("the contract in {}", wit.display()))?;
    let every = resolve.select_world(&[package], Some(EVERY))?;
    Ok((resolve, every))
}

fn c_bindings(mut resolve: Resolve, every: WorldId) -> Result<Vec<(String, String)>> {
    let options = wit_bindgen_c::Opts {
        rename_world: Some("nephila_wit".to_owned()),
        no_object_file: true,
        ..wit_bindgen_c::Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, every, &mut files)?;
    let named = |(name, content): (&str, &[u8])| Ok((format!("nephila/{name}"), String::from_utf8(content.to_vec())?));
    files.iter().map(named).collect()
}

fn types(resolve: &Resolve, every: WorldId) -> Result<String> {
    let mut text = String::from(
        "// Generated from wit/ by `cargo run --package nephila-sdk-c --example generate`. DO NOT EDIT!\n\
         //\n\
         // The pieces of a component's type, as custom sections. The assembler's `.text` at the end of each goes back to where code goes.\n\
         #ifndef NEPHILA_TYPES_H\n#define NEPHILA_TYPES_H\n",
    );
    let contract = resolve.worlds[every].package.context("the world is in no package")?;
    let contract = resolve.packages[contract].name.clone();
    let version = contract.version.as_ref().map(|version| format!("@{version}")).unwrap_or_default();
    let contract = format!("{}:{}", contract.namespace, contract.name);

    let imports = format!("include {contract}/imports{version};");
    piece(&mut text, resolve, "imports", &imports)?;
    for (key, item) in &resolve.worlds[every].exports {
        let (WorldKey::Interface(id), WorldItem::Interface { .. }) = (key, item) else { continue };
        let name = resolve.interfaces[*id].name.as_deref().context("an export without a name")?;
        piece(&mut text, resolve, name, &format!("export {contract}/{name}{version};"))?;
        for function in resolve.interfaces[*id].functions.keys() {
            let constant = format!("{name}_{function}").to_uppercase().replace('-', "_");
            writeln!(text, "#define NEPHILA_NAME_{constant} \"{contract}/{name}{version}#{function}\"")?;
        }
    }
    text.push_str("\n#endif\n");
    Ok(text)
}

/// The piece of one tiny world.
fn piece(text: &mut String, resolve: &Resolve, name: &str, item: &str) -> Result<()> {
    let mut resolve = resolve.clone();
    let source = format!("package nephila:sdk-{name}; world sdk-{name} {{ {item} }}");
    let package = resolve.push_source("generated.wit", &source)?;
    let world = resolve.select_world(&[package], None)?;
    let bytes = wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None)?;

    write!(text, "\n#define NEPHILA_TYPE_{}", name.to_uppercase().replace('-', "_"))?;
    // ISO C wants no compiler to take a literal of more than 4,095 characters. Pieces of one section are put one behind the other.
    for (at, lines) in bytes.chunks(40 * 16).enumerate() {
        text.push_str(if at == 0 { " \\\n" } else { "; \\\n" });
        writeln!(text, "    __asm__(\".section \\\".custom_section.component-type:nephila-{name}\\\",\\\"\\\",@\\n\" \\")?;
        for line in lines.chunks(40) {
            text.push_str("            \".ascii \\\"");
            for byte in line {
                match byte {
                    b' '..=b'~' if !matches!(byte, b'"' | b'\\' | b'?') => text.push(char::from(*byte)),
                    byte => write!(text, "\\\\{byte:03o}")?,
                }
            }
            text.push_str("\\\"\\n\" \\\n");
        }
        text.push_str("            \".text\\n\")");
    }
    text.push('\n');
    Ok(())
}
