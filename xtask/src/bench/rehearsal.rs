//! `cargo xtask bench rehearsal`: whether the scripted CLI is ever what a host waits for.
//!
//! Plays the built-in scenario `long` into `cat`, counts the lines once, and divides by the time of whole runs, start
//! included. Beside it a program that only copies as many bytes into `cat`, so that the pipe's own share can be seen.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;

use crate::out;
use crate::workspace::Workspace;

/// Lines a second that the scripted CLI must reach.
const GOAL: f64 = 1_000_000.0;
const USER: &str = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";

/// Measures how fast the scripted CLI writes its scenario `long` into `cat`.
#[derive(Debug, Parser)]
struct Args {
    /// Interleaved rounds; medians are told
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Messages in one run, each of which is answered with 100,000 events
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
}

/// Runs it. Whether the goal was reached.
pub(super) fn command(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let name = "cargo xtask bench rehearsal".to_owned();
    let args = Args::parse_from([name].into_iter().chain(args.iter().cloned()));
    let built = workspace
        .cargo()
        .args(["build", "--profile", "dist", "--package", "countersign"]);
    ensure!(
        built.hand_over()?.success(),
        "the binary could not be built"
    );
    let program = workspace.target.join("dist/countersign");
    let home = workspace.target.join("tmp/bench-rehearsal");
    std::fs::create_dir_all(&home).context("no folder for the run")?;

    let (lines, bytes) = count(&program, &home, args.turns)?;
    let (mut played, mut copied) = (Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        out::note(format_args!("round {round} of {}", args.rounds));
        played.push(into_cat(&mut cli(&program, &home), args.turns)?);
        copied.push(into_cat(
            Command::new("head").args(["-c", &bytes.to_string(), "/dev/zero"]),
            0,
        )?);
    }
    let (played, copied) = (median(&mut played), median(&mut copied));
    let rate = lines as f64 / played.as_secs_f64();
    out::say(format!(
        "{lines} lines, {bytes} bytes in {:.1} ms: {:.2} million lines a second (goal 1.00: {})\n\
         as many bytes copied into cat by head: {:.1} ms, {:.1} x as fast",
        played.as_secs_f64() * 1e3,
        rate / 1e6,
        if rate >= GOAL { "met" } else { "MISSED" },
        copied.as_secs_f64() * 1e3,
        played.as_secs_f64() / copied.as_secs_f64(),
    ));
    Ok(rate >= GOAL)
}

/// The scripted CLI in an environment and a folder of its own.
fn cli(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["rehearse", "cli", "--scenario", "long"])
        .args([
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ])
        .args([
            "--verbose",
            "--include-partial-messages",
            "--no-session-persistence",
        ])
        .env_clear()
        .env("HOME", home)
        .current_dir(home);
    command
}

fn count(program: &Path, home: &Path, turns: u32) -> anyhow::Result<(usize, usize)> {
    let mut child = cli(program, home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    feed(child.stdin.take(), turns)?;
    let mut text = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut text)?;
    }
    ensure!(child.wait()?.success(), "the scripted CLI failed");
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    ensure!(lines > 100_000 * turns as usize, "only {lines} lines came");
    Ok((lines, text.len()))
}

/// The time from the start of both to the end of both.
fn into_cat(command: &mut Command, turns: u32) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipe = child.stdout.take().context("no pipe")?;
    let mut cat = Command::new("cat")
        .stdin(pipe)
        .stdout(Stdio::null())
        .spawn()?;
    feed(child.stdin.take(), turns)?;
    ensure!(child.wait()?.success(), "the program failed");
    ensure!(cat.wait()?.success(), "cat failed");
    Ok(started.elapsed())
}

fn feed(stdin: Option<std::process::ChildStdin>, turns: u32) -> anyhow::Result<()> {
    if let Some(mut stdin) = stdin {
        stdin.write_all(USER.repeat(turns as usize).as_bytes())?;
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let mut times = [3, 1, 2].map(Duration::from_millis);
        assert_eq!(median(&mut times), Duration::from_millis(2));
    }
}
