//! `countersign-bench-journal`: journal and keeper, measured beside what they could be replaced by.
//!
//! Owns the measuring and nothing of the judging: one JSON line on stdout for each measurement, what goes on meanwhile on
//! stderr; `cargo xtask bench journal` makes tables of it. The same program is also the agent that a keeper keeps and the
//! process that writes a journal for another to follow. Invariant: what is compared is measured in turn, in one run.

#[cfg(target_os = "linux")]
mod measure;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    measure::main(std::env::args_os().skip(1).collect())
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("this benchmark reads /proc and uses inotify: run it on Linux")
}
