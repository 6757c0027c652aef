//! What tools do and report, and commands that are stopped, run out of time, or leave something behind.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Job, Ran, Stop, Workbench, accept};

struct Stage {
    folder: tempfile::TempDir,
    bench: Workbench,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("project");
        std::fs::create_dir(&cwd).unwrap();
        let env = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("SHELL".into(), "/bin/bash".into()),
        ];
        let bench = Workbench::new(cwd, folder.path().join("home"), env)
            .with_scratch(folder.path().join("scratch"));
        Self { folder, bench }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn project(&self, name: &str) -> PathBuf {
        self.path("project").join(name)
    }

    fn job(&self, input: Value, task: bool) -> Job {
        let task = task.then(|| self.path("tasks/b12345678.output"));
        let tool = "Bash".to_owned();
        Job { tool, input, task }
    }

    /// Runs a command that cannot go on in the background.
    fn command(&self, input: Value, task: bool) -> Ran {
        self.bench.run(&self.job(input, task), &Stop::default())
    }

    /// Runs a tool, and tells what it said.
    fn said(&self, tool: &str, input: &Value) -> String {
        let ran = accept(tool, input).map(|input| {
            let tool = tool.to_owned();
            let job = Job {
                tool,
                input,
                task: None,
            };
            self.bench.run(&job, &Stop::default())
        });
        let ran = ran.unwrap_or_else(|refused| refused);
        match ran.content {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

#[test]
fn every_tool_does_its_work_and_says_so() {
    let stage = Stage::new();
    let write = |path: &str, content: &str| json!({"file_path": path, "content": content});
    let edit = |old: &str, new: &str, all: bool| json!({"file_path": "a.txt", "old_string": old, "new_string": new, "replace_all": all});
    let read = |path: &str| json!({"file_path": path});
    let table = [
        (
            "Write",
            write("a.txt", "one\ntwo\nthree\n"),
            "File created successfully at: a.txt",
        ),
        ("Read", read("a.txt"), "1\tone\n2\ttwo\n3\tthree"),
        (
            "Read",
            json!({"file_path": "a.txt", "offset": 2, "limit": 1}),
            "2\ttwo",
        ),
        (
            "Edit",
            edit("two", "2", false),
            "The file a.txt has been updated successfully.",
        ),
        (
            "Edit",
            edit("e", "E", false),
            "Found 3 matches of the string to replace",
        ),
        (
            "Edit",
            edit("E", "e", false),
            "String to replace not found in file.",
        ),
        (
            "Edit",
            edit("e", "E", true),
            "All occurrences were successfully replaced.",
        ),
        ("Edit", edit("E", "E", true), "No changes to make"),
        ("Read", read("a.txt"), "1\tonE\n2\t2\n3\tthrEE"),
        ("Write", write("sub/b.md", "two\nfour\n"), "File created"),
        (
            "WebFetch",
            json!({"url": "https://example.com/a", "prompt": "x"}),
            "getaddrinfo ENOTFOUND example.com",
        ),
        (
            "Bash",
            json!({"command": "grep nothing a.txt"}),
            "(Bash completed with no output)",
        ),
        ("Bash", json!({"command": "cd sub && pwd"}), "/project/sub"),
        ("Bash", json!({"command": "cd /"}), "Shell cwd was reset to"),
    ];
    for (tool, input, part) in table {
        let said = stage.said(tool, &input);
        assert!(said.contains(part), "{tool} {input}\n{said}");
    }
    let written = std::fs::read_to_string(stage.project("a.txt")).unwrap();
    assert_eq!(written, "onE\n2\nthrEE\n");
}

#[test]
fn a_file_that_somebody_else_changed_is_not_written_over() {
    let stage = Stage::new();
    std::fs::write(stage.project("a.txt"), "one\n").unwrap();
    let write = json!({"file_path": "a.txt", "content": "two\n"});
    stage.said("Read", &json!({"file_path": "a.txt"}));
    std::fs::write(stage.project("a.txt"), "other\n").unwrap();
    assert!(stage.said("Write", &write).contains("modified since read"));
    stage.said("Read", &json!({"file_path": "a.txt"}));
    assert!(stage.said("Write", &write).contains("updated successfully"));
}

#[test]
fn who_is_left_behind_does_not_hold_the_report_up() {
    let stage = Stage::new();
    let began = Instant::now();
    let ran = stage.command(json!({"command": "sleep 17 & echo $!"}), true);
    assert!(began.elapsed() < Duration::from_secs(15));
    let pid = ran.content.as_str().unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let stage = Stage::new();
    let ran = stage.command(
        json!({"command": "echo one; sleep 60", "timeout": 300}),
        false,
    );
    let told = "Exit code 143\nCommand timed out after 0s\none";
    assert_eq!((ran.content, ran.exit), (told.into(), Some(143)));
}

#[test]
fn a_command_sees_the_environment_it_was_given_and_leaves_no_file_behind() {
    let stage = Stage::new();
    let ran = stage.command(json!({"command": "env | cut -d= -f1 | sort"}), false);
    let names = "AI_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION COREPACK_ENABLE_AUTO_PIN GIT_EDITOR \
                 NoDefaultCurrentDirectoryInExePath PATH PWD SHELL SHLVL _";
    let mut seen: Vec<&str> = ran.content.as_str().unwrap().lines().collect();
    seen.sort_unstable();
    assert_eq!(seen.join(" "), names);
    let left = std::fs::read_dir(stage.path("scratch")).unwrap().count();
    assert_eq!(left, 0);
}
