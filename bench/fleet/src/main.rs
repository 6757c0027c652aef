//! `countersign-bench-fleet`: many agents at once under one host.
//!
//! Owns the measuring and nothing of the judging of figures: one JSON line on stdout for each measurement, what goes on
//! meanwhile on stderr; `cargo xtask bench fleet` makes tables of it. What is lost, asked twice or asked of a person is no
//! figure but a failure. The same program is the host, its keepers and their agents.

#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod course;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod roles;
#[cfg(target_os = "linux")]
mod scene;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
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
