//! `leash PARENT PROGRAM [ARGUMENT]...` becomes PROGRAM, which the kernel then ends when the process PARENT, which started this one, ends.

use nephila_bench::{follow, said};
use std::process::ExitCode;

fn main() -> ExitCode {
    said("leash", follow(std::env::args_os().skip(1)).map(|()| ExitCode::SUCCESS))
}
