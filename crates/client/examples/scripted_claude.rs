//! A scripted `claude` for the tests of this crate: plays the scenario that the environment names.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_rehearsal::cli::main_from_env()
}
