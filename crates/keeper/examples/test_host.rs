//! A host of the fault suite, build A. What it does is in `host/`; this file says which build it is.

#[cfg(unix)]
mod host;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    host::main(host::Build {
        name: "test-host A",
        notes_more: false,
    })
}

#[cfg(not(unix))]
fn main() {}
