//! What a machine needs before anything can be built. The other tasks call it first, so that a fresh clone just works.

use std::process::Command;

use anyhow::{Result, bail};
use nephila_build::rust::Toolchain;
use nephila_build::{Builder, Language, Missing};

use crate::folders::Folders;
use crate::packages;
use crate::process::{on_path, output_if_it_works};
use crate::toolchain;

/// Finds or installs everything, and says what it found.
pub(crate) fn run() -> Result<()> {
    c_compiler()?;
    plugin_toolchain().map(|_| ())
}

/// What tests need beside that: a Python for the real Crawlee, and the tools of each language that plugins are written in. Without them the
/// tests that need them say that they are skipped.
pub(crate) fn for_tests(folders: &Folders) -> Result<()> {
    run()?;
    let works = || output_if_it_works(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_some();
    if !works() && packages::can_install() {
        packages::install(&["python3", "python3-venv"]);
    }
    println!(
        "Python with venv, for tests with Crawlee: {}",
        if works() { "there" } else { "not there; install python3 and python3-venv" }
    );
    author_tools(folders);
    Ok(())
}

/// What Debian has of the tools of plugins' authors: a program by which it is known, and its packages.
const OF_DEBIAN: [(&str, &[&str]); 2] =
    [("clang", &["clang", "lld", "wasi-libc", "libclang-rt-dev-wasm32"]), ("npm", &["nodejs", "npm"])];

/// Below `target`, so that the user's own folder stays as it is; compilers are the system's.
fn author_tools(folders: &Folders) {
    for (program, names) in OF_DEBIAN {
        if on_path(program).is_none() && packages::can_install() {
            packages::install(names);
        }
    }
    let builder =
        Builder::new(nephila_build::Folders { cache: folders.author_tools(), tools: folders.author_tools() }, Missing::Say);
    for language in [Language::JavaScript, Language::Python, Language::C] {
        if !builder.is_installed(language) && (language != Language::C || on_path("clang").is_none()) {
            let installation = builder.installation(language);
            println!("for tests with plugins in {language}, trying: {}", installation.lines().join(" && "));
            if let Err(error) = installation.run() {
                println!("{error}; tests that need them are skipped");
            }
        }
    }
}

/// The Rust that compiles plugins.
pub(crate) fn plugin_toolchain() -> Result<Toolchain> {
    let toolchain = toolchain::find_or_install()?;
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
