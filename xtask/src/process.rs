//! Other programs: run, and say by name which one failed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The cargo that runs this program, or the one on the path.
pub(crate) fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

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

/// Like [`output`], for a program whose failure is an answer and not an error; it stays silent.
pub(crate) fn output_if_it_works(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs a program to its end or for so long; whether it ended well in time.
pub(crate) fn works_within(limit: Duration, command: &mut Command) -> bool {
    let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return false };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if started.elapsed() < limit => sleep(Duration::from_millis(100)),
            _ => {
                // It may have ended this very moment: then there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Where a program is on the path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Takes what the outer cargo and rustup tell their children from a command that runs another cargo, perhaps of another
/// release: compiler, flags, toolchain, libraries. What a person sets for the network or for cargo's home stays.
pub(crate) fn without_outer_cargo(command: &mut Command) -> &mut Command {
    const KEPT: [&str; 5] = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_TERM_"];
    const TAKEN: [&str; 6] = ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN", "RUST_RECURSION_COUNT"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is = |prefix: &&str| text.starts_with(*prefix);
        if TAKEN.iter().any(is) && !KEPT.iter().any(is) {
            command.env_remove(&name);
        }
    }
    command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH")
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
