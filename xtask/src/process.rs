//! Other programs: run, and say by name which one failed.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nephila_build::process::shown;
pub(crate) use nephila_build::process::{cargo, on_path, output_if_it_works, works_within};

/// Runs a program to its end; an exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Becomes a program, so that it is this process that a signal reaches, its words that stand at the end and its exit code that counts. Comes back
/// only with an error; where a process cannot become another one, runs it to its end.
pub(crate) fn turn_into(command: &mut Command) -> Result<()> {
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(command);
        Err(error).with_context(|| format!("cannot start `{}`", shown(command)))
    }
    #[cfg(not(unix))]
    run(command)
}

/// Runs a program and takes what it writes on standard output, without the last line break.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` ended with {}", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
