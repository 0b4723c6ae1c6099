//! The Rust that compiles plugins, installed where there is none: `host/build` finds it, and what only this repository may do is here.

use anyhow::{Context, Result, bail};
use nephila_build::rust::{DEBIAN, TARGET, Toolchain};

use crate::packages;

/// Finds one that is ready; else installs what is missing; else says what a person can do.
pub(crate) fn find_or_install() -> Result<Toolchain> {
    if let Some(ready) = Toolchain::find() {
        return Ok(ready);
    }
    println!("no Rust here can compile for {TARGET} yet; trying: rustup target add {TARGET}");
    if Toolchain::add_target() {
        return Toolchain::find().context("rustup added the target, but the compiler does not find it");
    }
    if packages::can_install() && packages::install(&DEBIAN) {
        if !Toolchain::has_linker() {
            packages::install(&["lld"]);
        }
        if let Some(ready) = Toolchain::find() {
            return Ok(ready);
        }
    }
    bail!(
        "nothing here can compile plugins, and nothing could be installed. Do one of these, then try again:\n  \
         rustup target add {TARGET}\n  \
         sudo apt-get update && sudo apt-get install --no-install-recommends {} lld      (Debian 12, Ubuntu)",
        DEBIAN.join(" "),
    )
}
