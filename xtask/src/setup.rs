//! What a machine needs before anything can be built. The other tasks call it first, so that a fresh clone just works.

use std::process::Command;

use anyhow::{Result, bail};

use crate::packages;
use crate::process::{on_path, output_if_it_works};
use crate::toolchain::Toolchain;

/// Finds or installs everything, and says what it found.
pub(crate) fn run() -> Result<()> {
    c_compiler()?;
    plugin_toolchain().map(|_| ())
}

/// What tests need beside that: a Python for the real Crawlee. Without it the tests that need it say that they are skipped.
pub(crate) fn for_tests() -> Result<()> {
    run()?;
    let works = || output_if_it_works(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_some();
    if !works() && packages::can_install() {
        packages::install(&["python3", "python3-venv"]);
    }
    println!(
        "Python with venv, for tests with Crawlee: {}",
        if works() { "there" } else { "not there; install python3 and python3-venv" }
    );
    Ok(())
}

/// The Rust that compiles plugins.
pub(crate) fn plugin_toolchain() -> Result<Toolchain> {
    let toolchain = Toolchain::find_or_install()?;
    println!("{}", toolchain.describe());
    Ok(toolchain)
}

/// SQLite and ring are C, and Rust itself links with it.
fn c_compiler() -> Result<()> {
    let found = || ["cc", "clang", "gcc", "cl"].into_iter().find_map(on_path);
    if found().is_none() && packages::can_install() {
        packages::install(&["gcc", "libc6-dev"]);
    }
    match found() {
        Some(compiler) => println!("C compiler: {}", compiler.display()),
        None => bail!("there is no C compiler. Install one, for example: sudo apt-get install gcc libc6-dev"),
    }
    Ok(())
}
