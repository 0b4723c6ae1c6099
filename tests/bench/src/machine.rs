//! On what machine, with what compiler and which commit: without it a figure says little.

use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::process::{Command, Stdio};

/// Facts about where figures come from; empty text where a fact cannot be had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// What the processor calls itself.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Memory.
    pub memory_megabytes: u64,
    /// Kernel and its version.
    pub kernel: String,
    /// The compiler on the path.
    pub rustc: String,
    /// The commit of the folder that this runs in, with a `+` if there are changes on top.
    pub commit: String,
    /// The day.
    pub date: String,
    /// Processes that wanted a core in the last minute before, for how quiet it was.
    pub load: String,
}

impl Machine {
    /// This one, now.
    #[must_use]
    pub fn this() -> Self {
        let changes = said("git", &["status", "--porcelain", "--untracked-files=no"]);
        let mark = if changes.is_empty() { "" } else { "+" };
        let commit = said("git", &["rev-parse", "--short", "HEAD"]);
        let memory = value("/proc/meminfo", "MemTotal").split(' ').next().and_then(|kb| kb.parse::<u64>().ok());
        Self {
            processor: value("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_megabytes: memory.unwrap_or(0) / 1_000,
            kernel: said("uname", &["-sr"]),
            rustc: said("rustc", &["--version"]),
            commit: if commit.is_empty() { commit } else { format!("{commit}{mark}") },
            date: said("date", &["-u", "+%Y-%m-%d"]),
            load: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}

impl Display for Machine {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "Measured {} at commit {} on {}, {} cores, {:.1} GB, {}, {}; load before {}.",
            self.date,
            self.commit,
            self.processor,
            self.cores,
            self.memory_megabytes as f64 / 1e3,
            self.kernel,
            self.rustc,
            self.load,
        )
    }
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success());
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The first `name: value` of a file of the kernel's.
fn value(file: &str, name: &str) -> String {
    let text = read(file);
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn a_machine_has_cores_and_a_day() {
        let machine = Machine::this();
        assert!(machine.cores > 0);
        assert_eq!(machine.date.len(), 10, "{machine:?}");
    }
}
