//! Programs that end with the one that started them, however that one ends.
//!
//! Decision: a small program in between (`leash`) asks the kernel for a signal at the end of its parent (PR_SET_PDEATHSIG) and then becomes
//! the program that is wanted; what was asked for outlives that. Dropping a handle ends nothing where a process is killed, and between
//! fork and exec nothing can be asked for in safe Rust. It costs a start of less than a millisecond, the same for all who are compared.
//!
//! What remains: on other systems than Linux only what is dropped is ended. The kernel looks at the thread that started a program, so
//! that it is to be one that lasts as long as the process: the main one.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where `leash` is: beside this program.
///
/// # Errors
/// If this program's own place is not known.
pub(crate) fn leash() -> Result<PathBuf> {
    let this = std::env::current_exe().context("where is this program?")?;
    Ok(this.with_file_name(format!("leash{}", std::env::consts::EXE_SUFFIX)))
}

/// A command that runs a program until it ends, or until this one does. To be spawned from the main thread.
///
/// # Errors
/// If this program's own place is not known.
pub fn leashed(program: &Path) -> Result<Command> {
    let mut command = Command::new(leash()?);
    command.arg(std::process::id().to_string()).arg(program);
    Ok(command)
}

/// What `leash PARENT PROGRAM [ARGUMENT]...` does: becomes the program. Comes back only if it cannot.
///
/// # Errors
/// If the program cannot be started, or the parent has ended already.
#[cfg(unix)]
pub fn follow(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    use std::os::unix::process::CommandExt;
    const USAGE: &str = "usage: leash PARENT PROGRAM [ARGUMENT]...";
    let parent = arguments.next().and_then(|text| text.to_str()?.parse::<u32>().ok()).context(USAGE)?;
    let program = arguments.next().context(USAGE)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .context("the kernel gives no signal at the end of the parent")?;
    // It may have ended before the kernel was asked; then somebody else is the parent by now.
    anyhow::ensure!(std::os::unix::process::parent_id() == parent, "the program that started this one has ended");
    let error = Command::new(&program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// What `leash` does: nothing, on this system.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn follow(_: impl Iterator<Item = OsString>) -> Result<()> {
    anyhow::bail!("`leash` is for Unix")
}
