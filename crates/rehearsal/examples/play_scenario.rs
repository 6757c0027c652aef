//! Plays the scenario that the environment names, on stdin and stdout, as `claude` would.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_rehearsal::cli::main_from_env()
}
