//! What becomes a keeper beside the tests of this crate.

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    countersign_keeper::main_if_asked().unwrap_or(ExitCode::from(2))
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::from(2)
}
