//! Other programs: where they are, and what they answer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The cargo that runs this program, or the one on the path.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// What a program writes on standard output, without the last line break, if it ends well. Its failure is an answer and not an error; it
/// stays silent.
pub fn output_if_it_works(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs a program to its end or for so long; whether it ended well in time.
pub fn works_within(limit: Duration, command: &mut Command) -> bool {
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

/// Says something on standard error; that nobody can hear it is no reason to fail.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Where a program is on the path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Takes what an outer cargo and rustup tell their children from a command that runs another cargo, perhaps of another
/// release: compiler, flags, toolchain, libraries. What a person sets for the network or for cargo's home stays.
pub fn without_outer_cargo(command: &mut Command) -> &mut Command {
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

/// A command as a person would write it, the program without its folder.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
