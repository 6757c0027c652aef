//! A host of the fault suite, build A. The host is in `host/`, what the suite plays around it in `played/`; this file says
//! which build it is.

#[cfg(unix)]
mod host;
#[cfg(unix)]
mod played;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    played::main(played::Build {
        name: "test-host A",
        notes_more: false,
    })
}

#[cfg(not(unix))]
fn main() {}
