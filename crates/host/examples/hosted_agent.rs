//! The scripted CLI as a program beside the tests of this crate: plays what the environment names, as `claude` would.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_rehearsal::cli::main_from_env()
}
