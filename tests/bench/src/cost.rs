//! What a process cost, as the kernel counted it: exact processor time of all its threads, and its peak of memory.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::process::Child;
use std::time::Instant;

/// What one run of a program cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Processor time in user mode, of all threads.
    pub user_seconds: f64,
    /// Processor time in the kernel on its behalf.
    pub system_seconds: f64,
    /// From its start to its end.
    pub wall_seconds: f64,
    /// The most memory that it had resident.
    pub peak_bytes: u64,
}

impl Cost {
    /// Waits for a child to end: its exit code (`None` if a signal ended it) and what it cost.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn of(child: Child, started: Instant) -> Result<(Option<i32>, Self)> {
        let pid = libc::pid_t::try_from(child.id())?;
        let mut status = 0;
        // SAFETY: all zeros are a valid `rusage`, which is plain numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both pointers are to live values of the right types; the child is ours and was not waited for.
            let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
            if waited == pid {
                break;
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error).context("cannot wait for the program");
            }
        }
        let wall_seconds = started.elapsed().as_secs_f64();
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let cost = Self {
            user_seconds: seconds(usage.ru_utime),
            system_seconds: seconds(usage.ru_stime),
            wall_seconds,
            // Linux counts in kB.
            peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        };
        Ok((libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)), cost))
    }

    /// User and system.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;
    use std::process::Command;
    use std::time::Instant;

    #[test]
    fn a_program_has_an_exit_code_and_a_cost() {
        let started = Instant::now();
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let (code, cost) = Cost::of(child, started).unwrap();
        assert_eq!(code, Some(7));
        assert!(cost.peak_bytes > 100_000 && cost.wall_seconds > 0.0 && cost.cpu_seconds() >= 0.0);
    }

    #[test]
    fn a_signal_leaves_no_exit_code() {
        let child = Command::new("sh").args(["-c", "kill -9 $$"]).spawn().unwrap();
        assert_eq!(Cost::of(child, Instant::now()).unwrap().0, None);
    }
}
