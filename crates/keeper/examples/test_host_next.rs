//! A host of the fault suite, build B: a later one, which notes more about each answer.
//!
//! Another program than build A, so that an upgrade is one.

#[cfg(unix)]
mod host;
#[cfg(unix)]
mod played;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    played::main(played::Build {
        name: "test-host B",
        notes_more: true,
    })
}

#[cfg(not(unix))]
fn main() {}
