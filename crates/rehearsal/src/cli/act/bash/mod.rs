//! `Bash`: a command in a shell, and what is said of it.
//!
//! `shell` runs it, `output` reads what it printed, `words` and `meaning` look at its text, `git` at what it did.

mod git;
mod meaning;
mod output;
mod shell;
mod words;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::paths::seen_from;
use super::ran::Ran;
use super::stop::Stop;
use super::text::Text;
use super::workbench::{Job, Moved, Task, Workbench};
use git::Tree;
use meaning::Extent;
use output::Output;
use shell::{Exit, Running, Start};

pub(super) use meaning::only_looks;

/// Milliseconds a command gets if it does not say, and at most.
const USUAL_TIME: u64 = 120_000;
const MOST_TIME: u64 = 600_000;
/// A file counts as changed by a command if it changed this long before it began.
const SHORTLY_BEFORE: u128 = 500;
const NOTHING_PRINTED: &str = "(Bash completed with no output)";

/// What is left of a command after its report.
#[derive(Debug)]
pub(in crate::cli) struct Rest {
    running: Running,
}

impl Rest {
    /// Waits for its end, and gives back its exit code.
    pub(in crate::cli) fn wait(self) -> i32 {
        self.running.wait().code
    }
}

/// What speaks against it before anybody is asked.
pub(super) fn check(input: &Value) -> Result<(), Ran> {
    let command = input["command"].as_str().unwrap_or_default();
    if input["run_in_background"] == true {
        return Ok(());
    }
    match meaning::long_sleep(command) {
        Some(why) => Err(Ran::refused(why)),
        None => Ok(()),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, job: &Job, stop: &Stop) -> Ran {
    match Shell::prepare(bench, job) {
        Ok(shell) => shell.run(stop),
        Err(error) => Ran::failed(format!("The shell could not be started: {error}")),
    }
}

/// One command on its way.
struct Shell<'a> {
    bench: &'a Workbench,
    input: &'a Value,
    command: &'a str,
    task: Option<&'a Task>,
    /// Names the files of this command.
    mark: String,
    output: PathBuf,
    ended_in: PathBuf,
    began: u128,
    before: Option<Tree>,
}

impl<'a> Shell<'a> {
    fn prepare(bench: &'a Workbench, job: &'a Job) -> std::io::Result<Self> {
        let command = job.input["command"].as_str().unwrap_or_default();
        let task = job.task.as_ref();
        let mark = match task {
            Some(task) => task.id.clone(),
            None => format!("b{}", base36(bench.mark())),
        };
        let output = match task {
            Some(task) => {
                if let Some(folder) = task.output.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                task.output.clone()
            }
            None => bench.scratch_file(&format!("{mark}.output"))?,
        };
        let may_change = bench.in_repository && bench.has_commit() && !only_looks(command);
        Ok(Self {
            bench,
            input: &job.input,
            command,
            task,
            output,
            ended_in: bench.scratch_file(&format!("{mark}-cwd"))?,
            mark,
            began: milliseconds(SystemTime::now()),
            before: may_change.then(|| Tree::look(&bench.cwd())).flatten(),
        })
    }

    fn run(&self, stop: &Stop) -> Ran {
        let cwd = self.bench.cwd();
        let in_background = self.input["run_in_background"] == true;
        let started = Running::start(
            &Start {
                command: self.command,
                cwd: &cwd,
                env: &self.bench.env,
                output: &self.output,
                ended_in: (!in_background).then_some(self.ended_in.as_path()),
            },
            stop,
        );
        let running = match started {
            Ok(running) => running,
            Err(error) => return Ran::failed(format!("The shell could not be started: {error}")),
        };
        if in_background {
            return self.ended_in_background(running.wait());
        }
        let time = self.time();
        let ran = match running.wait_for(time) {
            Some(_) if stop.is_raised() => self.failed(137, "Request interrupted"),
            Some(exit) => self.ended(exit),
            None => return self.out_of_time(running, time),
        };
        self.tidy();
        ran
    }

    /// How long the command may take.
    fn time(&self) -> Duration {
        let of_env = |key: &str| {
            let found = self.bench.env.iter().find(|(known, _)| known == key);
            found
                .and_then(|(_, value)| value.to_str()?.parse::<u64>().ok())
                .filter(|time| *time > 0)
        };
        let usual = of_env("BASH_DEFAULT_TIMEOUT_MS").unwrap_or(USUAL_TIME);
        let most = of_env("BASH_MAX_TIMEOUT_MS")
            .unwrap_or(MOST_TIME)
            .max(usual);
        let given = self.input["timeout"].as_f64().filter(|time| *time > 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and bounded below"
        )]
        let time = given.map_or(usual, |time| time as u64);
        Duration::from_millis(time.min(most))
    }

    fn ended(&self, exit: Exit) -> Ran {
        let moved = self.moved();
        let meaning = meaning::exit_meaning(self.command, exit.code);
        if exit.code != 0 && meaning.is_none() {
            return self.failed(exit.code, "");
        }
        let output = Output::read(&self.output);
        self.remember_shown();
        let mut structured = self.structured(&output.text);
        let mut parts = vec![output.text.clone()];
        if let Some(meaning) = meaning {
            structured["returnCodeInterpretation"] = meaning.into();
        }
        if let Moved::Reset(home) = moved {
            let note = format!("Shell cwd was reset to {}", home.display());
            structured["stderr"] = format!("\n{note}").into();
            parts.push(note);
        }
        if let Some(hint) = self.stale_hint() {
            structured["staleReadFileStateHint"] = hint.clone().into();
            parts.push(hint);
        }
        self.tell_of_repository(&mut structured, &output.text);
        let ran = |content: Value, structured: Value, is_error: Option<bool>| Ran {
            content,
            structured,
            is_error,
            exit: Some(exit.code),
            rest: None,
        };
        if let Some((kind, data)) = output.picture() {
            structured["isImage"] = true.into();
            let source = json!({"type": "base64", "media_type": kind, "data": data});
            return ran(
                json!([{"type": "image", "source": source}]),
                structured,
                None,
            );
        }
        if output.is_cut()
            && let Some(kept) = self.keep()
        {
            structured["persistedOutputPath"] = kept.to_string_lossy().into();
            structured["persistedOutputSize"] = output.bytes.into();
            parts[0] = output.preview(&kept);
        }
        parts.retain(|part| !part.is_empty());
        let text = match parts.is_empty() {
            true => NOTHING_PRINTED.to_owned(),
            false => parts.join("\n"),
        };
        ran(text.into(), structured, Some(false))
    }

    fn structured(&self, printed: &str) -> Value {
        let mut structured = json!({
            "stdout": printed,
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": meaning::is_quiet(self.command),
        });
        if self.input["dangerouslyDisableSandbox"] == true {
            structured["dangerouslyDisableSandbox"] = true.into();
        }
        structured
    }

    fn failed(&self, code: i32, why: &str) -> Ran {
        let output = Output::read(&self.output);
        let parts = [format!("Exit code {code}"), why.to_owned(), output.text];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Ran {
            exit: Some(code),
            ..Ran::failed(output::shortened(&parts.join("\n")))
        }
    }

    /// The command took too long: it goes on in the background, if it can, else it ends here.
    fn out_of_time(&self, running: Running, time: Duration) -> Ran {
        let task = self
            .task
            .filter(|_| !meaning::begins_with_sleep(self.command));
        let Some(task) = task else {
            running.kill();
            running.wait();
            let ran = self.failed(143, &format!("Command timed out after {}s", time.as_secs()));
            self.tidy();
            return ran;
        };
        let output = Output::read(&self.output);
        let mut structured = self.structured(&output.text);
        structured["backgroundTaskId"] = task.id.clone().into();
        structured["timedOutAfterMs"] = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).into();
        let note = format!(
            "Command did not complete within its {}s timeout and was moved to the background (ID: {}). Output is being \
             written to: {}.",
            (time.as_secs_f64()).round(),
            task.id,
            task.output.display()
        );
        let parts: Vec<String> = [output.text, note]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        Ran {
            content: parts.join("\n").into(),
            structured,
            is_error: Some(false),
            exit: None,
            rest: Some(Rest { running }),
        }
    }

    fn ended_in_background(&self, exit: Exit) -> Ran {
        let output = Output::read(&self.output);
        Ran {
            content: output.text.clone().into(),
            structured: self.structured(&output.text),
            is_error: Some(exit.code != 0),
            exit: Some(exit.code),
            rest: None,
        }
    }

    /// Where the shell ended, if it said so.
    fn moved(&self) -> Moved {
        let said = std::fs::read_to_string(&self.ended_in).unwrap_or_default();
        let said = said.strip_suffix('\n').unwrap_or(&said);
        match said.is_empty() {
            true => Moved::Stays,
            false => self.bench.shell_ended_in(said.into()),
        }
    }

    /// The model has seen what the command showed of files.
    fn remember_shown(&self) {
        for (file, extent) in meaning::shown_files(self.command) {
            let path = self.bench.path(&file);
            let Ok(text) = Text::read(&path) else {
                continue;
            };
            let whole = match extent {
                Extent::Whole => true,
                Extent::First(lines) => text.body.lines().count() <= lines,
                Extent::Part => false,
            };
            self.bench.memory.read(&path, whole.then_some(text.body));
        }
    }

    fn stale_hint(&self) -> Option<String> {
        if !meaning::rewrites_files(self.command) {
            return None;
        }
        let cwd = self.bench.cwd();
        let stale = self
            .bench
            .memory
            .stale_since(self.began.saturating_sub(SHORTLY_BEFORE));
        let names: Vec<String> = stale.iter().map(|path| seen_from(&cwd, path)).collect();
        let files = match names.len() {
            0 => return None,
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        Some(format!(
            "[This command modified {files} you've previously read: {}. Call Read before editing.]",
            names.join(", ")
        ))
    }

    fn tell_of_repository(&self, structured: &mut Value, printed: &str) {
        if let Some(operation) = git::operation(self.command, printed) {
            structured["gitOperation"] = operation;
        }
        let now = self
            .before
            .as_ref()
            .and_then(|_| Tree::look(&self.bench.cwd()));
        if let (Some(before), Some(now)) = (&self.before, &now)
            && let Some(changes) = before.changes_to(now)
        {
            structured["bashEditDiff"] = changes;
        }
    }

    /// Keeps all that was printed where the model can read it.
    fn keep(&self) -> Option<PathBuf> {
        let kept = self.bench.result_file(&format!("{}.txt", self.mark)).ok()?;
        std::fs::copy(&self.output, &kept).ok()?;
        Some(kept)
    }

    /// The files of a command that is done are of no more use.
    fn tidy(&self) {
        for file in [&self.output, &self.ended_in] {
            let _ = std::fs::remove_file(file);
        }
    }
}

fn milliseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis())
}

/// Eight letters and digits.
fn base36(mut number: u64) -> String {
    let letters = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut text = String::new();
    for _ in 0..8 {
        text.push(char::from(
            letters[usize::try_from(number % 36).unwrap_or(0)],
        ));
        number /= 36;
    }
    text
}
