//! Options that need another way: values too large for a command line, flags that a version lacks, the environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use countersign_client::options::{OptionError, PermissionPrompts, Thinking};
use countersign_client::wire::vocab::Effort;
use countersign_client::{Claude, Decision, Error, Session};
use serde_json::{Value, json};

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::options::{of_the_agent, watcher};
use crate::stage::{Asked, Stage, soon, system_prompt, turn, until};

cases! {
    large {
        "options/append_system_prompt over 100 KiB" => "the whole of it is in the system prompt",
        "options/system_prompt over 100 KiB" => "the whole of it is the system prompt",
        "options/settings over 100 KiB" => "a setting at their end is in force",
        "options/agents over 100 KiB" => "the whole prompt reaches the sub-agent",
        "options/json_schema over 100 KiB" => "the answer is held to it",
    }
    newer_flags {
        "options/effort" => "in the request to the model",
        "options/thinking, disabled" => "in the request to the model",
        "options/debug_file" => "the log is there",
        "options/name" => "the title of the session",
        "options/permission_prompts, none" => "what would be asked about is denied without a question",
    }
    found {
        "options/cli, a path" => "the program at that path comes up; a script runs under node",
        "options/cli, a line" => "a command line with quotes comes up",
        "options/cli, nothing there" => "a typed error that says where it looked",
        "options/cli, wrong options" => "a typed error before anything starts",
    }
    environment {
        "options/inherited environment" => "what an outer session left behind does not reach the CLI, other variables do",
    }
}

const WORD: &str = "and the last word is heron.";

fn long(words: &str) -> String {
    "All about herons. ".repeat(7000) + words
}

const LARGE: &str = r#"
reply when "Send someone"
  tool Task {"description":"Watch","prompt":"Please watch the herons","subagent_type":"watcher","run_in_background":false}
reply when "Please watch the herons"
  say "I saw two."
reply when "Fill it in"
  tool StructuredOutput {"colour":"grey"}
reply always
  say "Well."
"#;

async fn with_large(stage: &Stage) -> Session {
    // They are written in the order of their names.
    let settings = json!({"herons": long(""), "outputStyle": "Explanatory"});
    let mut agent = watcher();
    agent.prompt = long(WORD);
    let claude = stage.claude().settings(settings).agents("watcher", agent);
    let claude = claude.append_system_prompt(long(WORD));
    claude.connect().await.unwrap()
}

async fn large(cli: Cli) -> Verdicts {
    let stage = cli.stage(LARGE).await;
    let mut session = with_large(&stage).await;
    let (init, _) = turn(&mut session, "Send someone").await;
    assert_eq!(init["output_style"], "Explanatory");
    let requests = stage.asked();
    let prompt = system_prompt(&requests[0]);
    assert!(prompt.contains(&long(WORD)));
    let sent = requests.into_iter().find(of_the_agent);
    assert!(system_prompt(&sent.expect("the sub-agent asks")).contains(&long(WORD)));
    drop(session);
    let schema = json!({
        "type": "object",
        "description": long(""),
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    });
    let claude = stage.claude().system_prompt(long(WORD)).json_schema(schema);
    let mut session = claude.connect().await.unwrap();
    let (_, result) = turn(&mut session, "Fill it in").await;
    let prompt = system_prompt(&stage.last_asked());
    assert!(prompt.contains(&long(WORD)) && prompt.len() < long(WORD).len() + 2000);
    let output: Value = result.structured().unwrap();
    assert_eq!(output, json!({"colour": "grey"}));
    Verdicts::all(features::large())
}

const FULL_NAME: &str = "claude-sonnet-4-5-20250929";

const WRITES: &str = r#"
reply when "Write"
  tool Write {"file_path":"${cwd}/written.txt","content":"x"}
reply always
  say "Well."
"#;

/// A flag that this version lacks is refused before the CLI is started.
async fn refused(cli: &Cli, claude: Claude, flag: &str) -> Verdict {
    match claude.connect().await {
        Err(Error::Options(OptionError::FlagNotInVersion {
            flag: named,
            version,
            since,
            ..
        })) => {
            assert_eq!(
                (named.as_str(), version.to_string().as_str()),
                (flag, cli.version())
            );
            NotInVersion(format!("the client refuses it: {flag} starts with {since}"))
        }
        other => panic!("{flag}: {other:?}"),
    }
}

async fn newer_flags(cli: Cli) -> Verdicts {
    let stage = cli.stage(WRITES).await;
    let log = stage.path("debug.log");
    let verdicts = in_version(&cli, &stage).await;
    if cli.is(OLDEST) {
        return verdicts;
    }
    let asked = Asked::default();
    let mut claude = stage
        .claude()
        .permissions(asked.always(Decision::allow()))
        .effort(Effort::Low)
        .thinking(Thinking::Disabled)
        .debug_file(&log);
    if cli.is_newest() {
        claude = claude
            .name("Herons")
            .permission_prompts(PermissionPrompts::None);
    }
    let mut session = claude.connect().await.unwrap();
    turn(&mut session, "Write").await;
    if cli.is_newest() {
        assert_eq!((asked.take(), stage.read("written.txt")), (vec![], None));
        until("the title", || stage.title().as_deref() == Some("Herons")).await;
    }
    assert_eq!(stage.asked()[0]["output_config"]["effort"], "low");
    until("the log", || {
        std::fs::metadata(&log).is_ok_and(|log| log.len() > 0)
    })
    .await;
    no_thinking(&stage, &mut session).await;
    verdicts
}

/// Each flag passes, if what follows holds, or is refused.
async fn in_version(cli: &Cli, stage: &Stage) -> Verdicts {
    let claude = || stage.claude();
    let mut verdicts = Verdicts::new();
    let of_middle = [
        ("options/effort", "--effort", claude().effort(Effort::Low)),
        (
            "options/thinking, disabled",
            "--thinking",
            claude().thinking(Thinking::Disabled),
        ),
        (
            "options/debug_file",
            "--debug-file",
            claude().debug_file("debug.log"),
        ),
    ];
    let none = claude().permission_prompts(PermissionPrompts::None);
    let of_newest = [
        ("options/name", "--name", claude().name("Herons")),
        (
            "options/permission_prompts, none",
            "--permission-prompts",
            none,
        ),
    ];
    let of_middle = of_middle.map(|row| (row, !cli.is(OLDEST)));
    let of_newest = of_newest.map(|row| (row, cli.is_newest()));
    for ((feature, flag, claude), has_it) in of_middle.into_iter().chain(of_newest) {
        let verdict = match has_it {
            true => Pass,
            false => refused(cli, claude, flag).await,
        };
        verdicts = verdicts.say(feature, verdict);
    }
    verdicts
}

/// The newest model always thinks; another one does not.
async fn no_thinking(stage: &Stage, session: &mut Session) {
    session.set_model(Some(FULL_NAME)).await.unwrap();
    turn(session, "Hello").await;
    let thinking = stage.last_asked()["thinking"].clone();
    assert!(
        matches!(thinking["type"].as_str(), None | Some("disabled")),
        "{thinking}"
    );
}

async fn found(cli: Cli) -> Verdicts {
    let stage = cli.stage("reply\n  say \"Well.\"\n").await;
    let command = cli.installed.command.clone();
    let path = PathBuf::from(command.last().unwrap());
    let session = stage.claude().cli(path).connect().await.unwrap();
    assert!(session.initialize_reply().is_some());
    drop(session);
    let quoted = command
        .iter()
        .map(|word| format!("\"{}\"", word.to_str().unwrap()));
    let line = quoted.collect::<Vec<_>>().join(" ");
    let session = stage.claude().cli_command(line).connect().await.unwrap();
    assert!(session.initialize_reply().is_some());
    drop(session);
    let nowhere = stage.path("no-claude");
    let missing = stage
        .claude()
        .cli(nowhere.clone())
        .connect()
        .await
        .unwrap_err();
    assert!(matches!(missing, Error::NotFound(_)), "{missing:?}");
    assert!(
        missing.to_string().contains(nowhere.to_str().unwrap()),
        "{missing}"
    );
    let wrong = stage.claude().max_turns(0).connect().await;
    assert!(
        matches!(wrong, Err(Error::Options(OptionError::NoTurns))),
        "{wrong:?}"
    );
    let wrong = stage.claude().extra_arg("--cwd", "/").connect().await;
    assert!(
        matches!(wrong, Err(Error::Options(OptionError::NoSuchFlag { .. }))),
        "{wrong:?}"
    );
    Verdicts::all(features::found())
}

/// What the inner process of [`environment`] is told: how to start the CLI.
const INNER: &str = "COUNTERSIGN_CONFORMANCE_INNER";

/// This process may not see its caller's variables reach the CLI, nor change its own. So it starts itself once more with
/// variables of an outer session, and that one starts the CLI without clearing anything.
async fn environment(cli: Cli) -> Verdicts {
    let stage = cli.stage("reply\n  say \"Well.\"\n").await;
    let launch = countersign_testkit::sandbox::Launch {
        base_url: stage.model.base_url(),
        ..Default::default()
    };
    let spec = stage.sandbox.spec(&cli.installed, &launch).unwrap();
    let command: Vec<&str> = spec
        .command
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect();
    let told = json!({"command": command, "cwd": spec.cwd});
    let inner = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "options_limits::inner", "--nocapture"])
        .env_clear()
        .envs(spec.env)
        .envs([
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_SESSION_ID", "x"),
            ("NODE_OPTIONS", "--trace-warnings"),
            ("HERON", "grey"),
        ])
        .env(INNER, told.to_string())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let inner = soon("the inner process", inner).await.unwrap();
    assert!(
        inner.status.success(),
        "{}",
        String::from_utf8_lossy(&inner.stderr)
    );
    let environ: Vec<String> = serde_json::from_str(
        &stage
            .read("environ.json")
            .expect("what the inner process saw"),
    )
    .unwrap();
    let value = |name: &str| {
        environ
            .iter()
            .find_map(|variable| variable.strip_prefix(&format!("{name}=")))
    };
    for gone in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "NODE_OPTIONS"] {
        assert_eq!(value(gone), None, "{gone}");
    }
    assert_eq!(
        (value("HERON"), value("CLAUDE_CODE_ENTRYPOINT")),
        (Some("grey"), Some("sdk-cli"))
    );
    Pass.into()
}

#[tokio::test]
async fn inner() {
    let Some(told) = std::env::var_os(INNER) else {
        return;
    };
    let told: Value = serde_json::from_str(told.to_str().unwrap()).unwrap();
    let command = told["command"].as_array().unwrap().iter();
    let command: Vec<OsString> = command.map(|word| word.as_str().unwrap().into()).collect();
    let cwd = told["cwd"].as_str().unwrap();
    let session = Claude::new().cli(command).cwd(cwd).connect().await.unwrap();
    let turn = session.send("Hello").await.unwrap();
    soon("the result", turn).await.unwrap().ok().unwrap();
    let environ = std::fs::read(format!("/proc/{}/environ", session.pid().unwrap())).unwrap();
    let variables: Vec<_> = environ
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    std::fs::write(
        format!("{cwd}/environ.json"),
        serde_json::to_string(&variables).unwrap(),
    )
    .unwrap();
    soon("the end", session.close()).await;
}
