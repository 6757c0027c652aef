//! `Bash`: a command in a shell, and what is said of it. `shell` runs it.

mod shell;

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::ran::Ran;
use super::stop::Stop;
use super::workbench::{Job, Moved, Workbench};
use shell::{Running, Start};

/// Milliseconds a command gets if it does not say, and at most.
const USUAL_TIME: u64 = 120_000;
const MOST_TIME: u64 = 600_000;
/// Bytes of output that are read.
const MOST_OUTPUT: u64 = 30_000;
const NOTHING_PRINTED: &str = "(Bash completed with no output)";

/// Commands that say nothing when all goes well.
const QUIET: &str = " cd chgrp chmod chown cp export ln mkdir mv rm rmdir touch unset wait ";
/// The words of each command of a line, as far as blanks and operators tell them apart.
fn commands(line: &str) -> impl Iterator<Item = Vec<&str>> {
    let commands = line.split(['|', ';', '&', '\n']);
    let words = commands.map(|command| command.split_whitespace().collect());
    words.filter(|words: &Vec<&str>| !words.is_empty())
}

fn is_among(word: Option<&&str>, list: &str) -> bool {
    word.is_some_and(|word| list.contains(&format!(" {word} ")))
}

/// What an exit code means that is no failure.
fn exit_meaning(line: &str, code: i32) -> Option<&'static str> {
    let last = commands(line).last()?;
    match *last.first()? {
        "grep" | "rg" if code == 1 => Some("No matches found"),
        "diff" if code == 1 => Some("Files differ"),
        "test" | "[" if code == 1 => Some("Condition is false"),
        _ => None,
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, job: &Job, stop: &Stop) -> Ran {
    let ran = Shell::prepare(bench, job).and_then(|shell| shell.run(stop));
    ran.unwrap_or_else(|error| Ran::failed(format!("The shell could not be started: {error}")))
}

/// One command on its way.
struct Shell<'a> {
    bench: &'a Workbench,
    input: &'a Value,
    command: &'a str,
    output: PathBuf,
    ended_in: PathBuf,
}

impl<'a> Shell<'a> {
    fn prepare(bench: &'a Workbench, job: &'a Job) -> std::io::Result<Self> {
        let scratch = bench.scratch_file()?;
        let task = job.task.clone();
        let output = task.unwrap_or_else(|| scratch.with_extension("output"));
        if let Some(folder) = output.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Self {
            bench,
            input: &job.input,
            command: job.input["command"].as_str().unwrap_or_default(),
            output,
            ended_in: scratch.with_extension("cwd"),
        })
    }

    fn run(&self, stop: &Stop) -> std::io::Result<Ran> {
        let in_background = self.input["run_in_background"] == true;
        let start = Start {
            command: self.command,
            cwd: &self.bench.cwd(),
            env: &self.bench.env,
            output: &self.output,
            ended_in: (!in_background).then_some(self.ended_in.as_path()),
        };
        let running = Running::start(&start, stop)?;
        if in_background {
            let code = running.wait();
            let text = self.printed();
            return Ok(Ran {
                structured: self.structured(&text),
                content: text.into(),
                is_error: Some(code != 0),
                exit: Some(code),
            });
        }
        let time = self.time();
        let ran = match running.wait_for(time) {
            Some(_) if stop.is_raised() => self.failed(137, "Request interrupted"),
            Some(code) => self.ended(code),
            None => {
                running.kill();
                running.wait();
                let note = format!("Command timed out after {}s", time.as_secs());
                self.failed(143, &note)
            }
        };
        for file in [&self.output, &self.ended_in] {
            // The files of a command that is done are of no more use.
            let _ = std::fs::remove_file(file);
        }
        Ok(ran)
    }

    /// How long the command may take.
    fn time(&self) -> Duration {
        let given = self.input["timeout"].as_u64().filter(|time| *time > 0);
        Duration::from_millis(given.unwrap_or(USUAL_TIME).min(MOST_TIME))
    }

    /// What was printed, as far as it is read, without blank lines at either end.
    fn printed(&self) -> String {
        let mut bytes = Vec::new();
        if let Ok(file) = std::fs::File::open(&self.output) {
            // What cannot be read was not printed, as far as anybody can tell.
            let _ = file.take(MOST_OUTPUT).read_to_end(&mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        text.trim_end().trim_start_matches('\n').to_owned()
    }

    fn ended(&self, code: i32) -> Ran {
        let moved = self.moved();
        let meaning = exit_meaning(self.command, code);
        if code != 0 && meaning.is_none() {
            return self.failed(code, "");
        }
        let mut text = self.printed();
        let mut structured = self.structured(&text);
        if let Some(meaning) = meaning {
            structured["returnCodeInterpretation"] = meaning.into();
        }
        if let Moved::Reset(home) = moved {
            let note = format!("Shell cwd was reset to {}", home.display());
            structured["stderr"] = format!("\n{note}").into();
            text = [text, note].join("\n").trim_start().to_owned();
        }
        if text.is_empty() {
            NOTHING_PRINTED.clone_into(&mut text);
        }
        Ran {
            content: text.into(),
            structured,
            is_error: Some(false),
            exit: Some(code),
        }
    }

    fn structured(&self, printed: &str) -> Value {
        let mut names = commands(self.command);
        json!({
            "stdout": printed,
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": names.all(|words| is_among(words.first(), QUIET)),
        })
    }

    fn failed(&self, code: i32, why: &str) -> Ran {
        let parts = [&format!("Exit code {code}"), why, &self.printed()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Ran {
            exit: Some(code),
            ..Ran::failed(parts.collect::<Vec<_>>().join("\n"))
        }
    }

    /// Where the shell ended, if it said so.
    fn moved(&self) -> Moved {
        let said = std::fs::read_to_string(&self.ended_in).unwrap_or_default();
        match said.strip_suffix('\n').unwrap_or(&said) {
            "" => Moved::Stays,
            said => self.bench.shell_ended_in(said.into()),
        }
    }
}
