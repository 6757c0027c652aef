//! Runs every example against the scripted CLI: what it prints, and what it sent.
//!
//! Each has its scenario in `examples/scenarios`. The environment of an example is cleared and its home is a fresh
//! folder. An example without a test here is a failure.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use countersign_client::history::project_key;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// No example may take longer. Far more than any takes: machines that run tests are busy.
const DEADLINE: Duration = Duration::from_secs(60);

/// Programs among the examples that show nothing: the scripted CLI itself, and a measuring tool.
const NO_EXAMPLES: [&str; 2] = ["scripted_claude", "bench_host_draft"];

/// One test for each example, and the list of those that have one.
macro_rules! examples {
    ($($(#[$attribute:meta])* $example:ident: $behaviour:ident;)*) => {
        $(
            $(#[$attribute])*
            mod $example {
                #[tokio::test]
                async fn $behaviour() {
                    super::$behaviour(super::Stage::of(stringify!($example))).await;
                }
            }
        )*
        const TESTED: &[&str] = &[$(stringify!($example)),*];
    };
}

examples! {
    one_shot: prints_the_answer;
    stream: prints_the_text_as_it_comes;
    #[cfg(feature = "mcp")]
    structured: prints_the_fields_of_its_own_type;
    approve: lets_run_what_is_harmless_and_nothing_else;
    ask_me: does_what_the_person_types;
    hooks: refuses_before_anybody_is_asked_and_logs_what_ran;
    #[cfg(feature = "mcp")]
    tools: serves_its_function_to_the_model;
    conversation: speaks_interrupts_and_changes_the_model;
    sessions_on_disk: goes_on_in_a_fork_of_the_latest;
    plan_review: answers_the_question_and_approves_the_plan;
    #[cfg(feature = "blocking")]
    blocking: decides_by_a_plain_closure;
    many: gets_an_answer_of_every_agent;
}

#[test]
fn every_example_has_a_test_and_a_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples = stems(&folder, "rs");
    examples.retain(|name| !NO_EXAMPLES.contains(&name.as_str()));
    let mut tested = TESTED.to_vec();
    tested.sort_unstable();
    assert_eq!(examples, tested);
    assert_eq!(stems(&folder.join("scenarios"), "scenario"), tested);
}

#[test]
fn every_example_is_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for example in TESTED {
        let text = std::fs::read_to_string(folder.join(format!("{example}.rs"))).unwrap();
        assert!(
            text.lines().count() < 60,
            "{example} is too long to be copied"
        );
    }
}

async fn prints_the_answer(stage: Stage) {
    assert_eq!(stage.run("").await, "It prints one sentence.\n");
}

async fn prints_the_text_as_it_comes(stage: Stage) {
    let printed = stage.run("").await;
    assert_eq!(printed, "Lines come in,\nlines go out.\n[0.0125 dollars]\n");
    assert!(stage.argv().contains(&"--include-partial-messages".into()));
}

#[cfg(feature = "mcp")]
async fn prints_the_fields_of_its_own_type(stage: Stage) {
    let printed = stage.run("").await;
    assert_eq!(
        printed,
        "1.2.0 (breaking)\n- Faster\n- The old flag is gone\n"
    );
    let schema: Value = serde_json::from_str(&stage.flag("--json-schema").unwrap()).unwrap();
    assert_eq!(schema["properties"]["breaking"]["type"], "boolean");
    // The real CLI does not start with a schema of a later draft.
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
}

async fn lets_run_what_is_harmless_and_nothing_else(stage: Stage) {
    let printed = stage.run("").await;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 4, "{printed}");
    assert!(lines[0].starts_with("runs: Bash "), "{printed}");
    assert!(lines[1].starts_with("denied: Bash "), "{printed}");
    assert!(lines[2].starts_with("denied: Write "), "{printed}");
    assert_eq!(lines[3], "It is clean.");
    assert_eq!(stage.behaviours(), ["allow", "deny", "deny"]);
    let input = json!({"command": "git status", "description": "Look"});
    assert_eq!(stage.answers()[0]["updatedInput"], input);
}

async fn does_what_the_person_types(stage: Stage) {
    // The third question meets the end of stdin, the fourth is withdrawn.
    let printed = stage.run("y\nn\n").await;
    assert!(
        printed.contains(r#"Bash {"command":"rm old.log"}: run it? [y/n]"#),
        "{printed}"
    );
    assert!(
        printed.ends_with("Tidied up as far as I may.\n"),
        "{printed}"
    );
    assert_eq!(stage.behaviours()[..3], ["allow", "deny", "deny"]);
}

async fn refuses_before_anybody_is_asked_and_logs_what_ran(stage: Stage) {
    let printed = stage.run("").await;
    let cwd = stage.cwd().display().to_string();
    let expected =
        format!("refused: {cwd}/.env\nBash ran in {cwd}\nThere is a README, and no key.\n");
    assert_eq!(printed, expected);
    let hooks = &stage.asked("initialize")[0]["hooks"];
    assert_eq!(hooks["PreToolUse"][0]["matcher"], "Write|Edit");
    assert_eq!(hooks["PostToolUse"].as_array().unwrap().len(), 1);
    let answers = stage.answers();
    let own = &answers[0]["hookSpecificOutput"];
    assert_eq!(own["permissionDecision"], "deny");
    // The matcher keeps Bash from the first hook, so the next answer is that of the handler.
    assert_eq!(answers[1]["behavior"], "allow");
    assert_eq!(answers[2], json!({}));
}

#[cfg(feature = "mcp")]
async fn serves_its_function_to_the_model(stage: Stage) {
    let printed = stage.run("").await;
    let expected = "the model asks for lamps\nthe model asks for lamp\nThree lamps are left.\n";
    assert_eq!(printed, expected);
    let results: Vec<Value> = stage
        .answers()
        .iter()
        .map(|answer| answer["mcp_response"]["result"].clone())
        .filter(|result| result["content"].is_array())
        .collect();
    assert_eq!(results[0]["isError"], true);
    assert_eq!(
        results[0]["content"][0]["text"],
        "there is no lamps in the shop"
    );
    assert_eq!(results[1]["content"][0]["text"], "3");
}

async fn speaks_interrupts_and_changes_the_model(stage: Stage) {
    let printed = stage.run("").await;
    let lines: Vec<&str> = printed.lines().collect();
    // Both messages went into one turn, which has one result.
    let both = ["first: Blue, and a heron.", "second: Blue, and a heron."];
    assert_eq!(lines[..2], both, "{printed}");
    assert_eq!(
        lines[2..4],
        ["interrupted: true", "third: I am the other one."],
        "{printed}"
    );
    assert!(
        lines[5].starts_with("ended: ") && lines[5].ends_with("exit code 0"),
        "{printed}"
    );
    assert_eq!(stage.asked("interrupt").len(), 1);
    assert_eq!(stage.asked("set_model")[0]["model"], "opus");
}

async fn goes_on_in_a_fork_of_the_latest(stage: Stage) {
    let original = "aaaaaaaa-0000-4000-8000-000000000001";
    let message = "bbbbbbbb-0000-4000-8000-000000000002";
    let cwd = stage.cwd();
    let key = project_key(cwd.to_str().unwrap());
    let folder = stage.home().join(".claude/projects").join(key);
    std::fs::create_dir_all(&folder).unwrap();
    let line = json!({
        "type": "user", "uuid": message, "parentUuid": null, "sessionId": original, "cwd": cwd,
        "isSidechain": false, "timestamp": "2026-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": "Count sheep."},
    });
    std::fs::write(
        folder.join(format!("{original}.jsonl")),
        format!("{line}\n"),
    )
    .unwrap();

    let printed = stage.run("").await;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], format!("{original} Count sheep."));
    let fork = lines[1].strip_prefix("forked into ").unwrap();
    assert_eq!(lines[2], "We were counting sheep.");
    let kept = std::fs::read_to_string(folder.join(format!("{original}.jsonl"))).unwrap();
    assert_eq!(kept, format!("{line}\n"), "the original stays as it is");
    assert!(folder.join(format!("{fork}.jsonl")).is_file());
    assert_eq!(stage.flag("--resume").as_deref(), Some(fork));
}

async fn answers_the_question_and_approves_the_plan(stage: Stage) {
    let printed = stage.run("").await;
    let expected = "Who reads it? Users\nplan: 1. Read the code. 2. Write README.md.\n\
                    I will write it now.\nmode: acceptEdits\n";
    assert_eq!(printed, expected);
    let answers = stage.answers();
    assert_eq!(
        answers[0]["updatedInput"]["answers"]["Who reads it?"],
        "Users"
    );
    assert!(answers[0]["updatedInput"]["questions"].is_array());
    let change = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
    assert_eq!(answers[1]["updatedPermissions"], change);
}

#[cfg(feature = "blocking")]
async fn decides_by_a_plain_closure(stage: Stage) {
    assert_eq!(stage.run("").await, "There is one host.\n");
    assert_eq!(stage.behaviours(), ["allow", "deny"]);
}

async fn gets_an_answer_of_every_agent(stage: Stage) {
    let printed = stage.run("").await;
    assert_eq!(printed, "20 of 20 answered\n20 questions denied\n");
}

/// One example, the folder it runs in, and what the scripted CLI kept of it.
struct Stage {
    example: &'static str,
    folder: TempDir,
}

impl Stage {
    fn of(example: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { example, folder }
    }

    /// A fresh home for the example and its CLI.
    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where it runs, without links, as the CLI sees it.
    fn cwd(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// Runs it with `typed` as its stdin; gives what it printed.
    async fn run(&self, typed: &str) -> String {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenarios");
        let mut child = Command::new(program(self.example))
            .arg(program("scripted_claude"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .env(
                "COUNTERSIGN_SCENARIO",
                scenarios.join(format!("{}.scenario", self.example)),
            )
            .env("COUNTERSIGN_SCENARIO_LOG", self.kept("log"))
            .env("COUNTERSIGN_SCENARIO_ARGV", self.kept("argv"))
            .current_dir(self.cwd())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let finished = async {
            stdin.write_all(typed.as_bytes()).await.unwrap();
            drop(stdin);
            child.wait_with_output().await.unwrap()
        };
        let Ok(Output {
            status,
            stdout,
            stderr,
        }) = tokio::time::timeout(DEADLINE, finished).await
        else {
            panic!("{} did not end within {DEADLINE:?}", self.example);
        };
        let stdout = String::from_utf8(stdout).unwrap();
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(
            status.success(),
            "{status}\nstdout: {stdout}\nstderr: {stderr}"
        );
        stdout
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The lines that the CLI was sent.
    fn heard(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.kept("log")).unwrap();
        let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// The answers that the CLI got to its own questions, in order.
    fn answers(&self) -> Vec<Value> {
        let heard = self.heard().into_iter();
        let answers = heard.filter(|line| line["type"] == "control_response");
        answers
            .map(|line| line["response"]["response"].clone())
            .collect()
    }

    /// What was decided about its calls, in order.
    fn behaviours(&self) -> Vec<String> {
        let word = |answer: Value| answer["behavior"].as_str().map(str::to_owned);
        self.answers().into_iter().filter_map(word).collect()
    }

    /// The control requests of one kind that it got.
    fn asked(&self, subtype: &str) -> Vec<Value> {
        let heard = self.heard().into_iter();
        let requests = heard.filter(|line| line["request"]["subtype"] == subtype);
        requests.map(|line| line["request"].clone()).collect()
    }

    /// How it was started.
    fn argv(&self) -> Vec<String> {
        let note = std::fs::read(self.kept("argv")).unwrap();
        let note: Value = serde_json::from_slice(&note).unwrap();
        serde_json::from_value(note["argv"].clone()).unwrap()
    }

    /// The value of a flag, in either of its forms.
    fn flag(&self, name: &str) -> Option<String> {
        let mut argv = self.argv().into_iter();
        argv.find_map(|arg| match arg.split_once('=') {
            Some((flag, value)) if flag == name => Some(Some(value.to_owned())),
            _ => (arg == name).then_some(None),
        })?
        .or_else(|| argv.next())
    }
}

/// An example as `cargo test` builds it beside the tests.
fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(example);
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-client --examples` builds it",
        program.display()
    );
    program
}

/// The names of the files with this ending, sorted, without it.
fn stems(folder: &Path, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let fitting = entries.filter(|path| path.extension().is_some_and(|found| found == ending));
    let mut stems: Vec<String> = fitting
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    stems.sort_unstable();
    stems
}
