//! `countersign-bench-server`: what a server costs, from the agent's write to the reader's read.
//!
//! Owns the measuring and nothing of the judging of figures: one JSON line on stdout for each measurement, what goes on
//! meanwhile on stderr; `cargo xtask bench server` makes tables of it. A record, an answer or a session that is missing is no
//! figure but a failure. The same program is the server, its keepers, their agents and its clients.

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod approvals;
#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
mod course;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod list;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod roles;
#[cfg(target_os = "linux")]
mod samples;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
#[path = "../../fleet/src/sweep.rs"]
mod sweep;
#[cfg(target_os = "linux")]
mod usage;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    roles::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("this benchmark reads /proc: run it on Linux")
}
