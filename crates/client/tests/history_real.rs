//! What the real CLI wrote is read, renamed, tagged and forked here, and the real CLI goes on from there. The scripted
//! model is the witness: it sees which history it was sent.
//!
//! A CLI that is not in the cache skips its tests with a word on stderr; where `COUNTERSIGN_REQUIRE` lists it
//! (`claude-newest`, separated by commas or spaces), the tests fail instead.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, SystemTime};

use countersign_client::history::{
    BranchOptions, ForkOptions, ForkSeed, HistoryError, ListOptions, Reach, SessionUuid,
    Transcript, Transcripts,
};
use countersign_rehearsal::model::{Kept, Kind, Options, Script, Server};
use countersign_testkit::demand;
use countersign_testkit::fetch::Installed;
use countersign_testkit::sandbox::{CliStream, Launch, RunAs, Sandbox};
use serde_json::{Value, json};

/// Makes the tests of one version.
macro_rules! versions {
    ($($module:ident $version:literal $reach:expr;)*) => {
        $(mod $module {
            #[tokio::test]
            async fn a_session_is_listed_and_read_as_it_was_held() {
                super::a_session_is_listed_and_read_as_it_was_held($version).await;
            }

            #[tokio::test]
            async fn a_renamed_session_is_resumed_with_its_history() {
                super::a_renamed_session_is_resumed_with_its_history($version, $reach).await;
            }

            #[tokio::test]
            async fn a_fork_is_resumed_with_the_history_it_was_given() {
                super::a_fork_is_resumed_with_the_history_it_was_given($version).await;
            }

            #[tokio::test]
            async fn sub_agents_and_parallel_calls_are_found() {
                super::sub_agents_and_parallel_calls_are_found($version).await;
            }

            #[tokio::test]
            async fn a_deleted_session_is_unknown_to_the_cli_until_it_is_restored() {
                super::a_deleted_session_is_unknown_to_the_cli_until_it_is_restored($version).await;
            }
        })*
    };
}

versions! {
    newest "newest" countersign_client::history::Reach::AllProjects;
    v2_1_62 "2.1.62" countersign_client::history::Reach::ThisProject;
    v2_0_75 "2.0.75" countersign_client::history::Reach::ThisProject;
}

const SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
const FORK: &str = "5e551011-0000-4000-8000-00000000000f";
const PATIENCE: Duration = Duration::from_secs(60);

const REMEMBER: &str = r#"
reply
  say "I will remember the word: heron."
reply
  say "And the number: seven."
reply
  say "Here we are again."
"#;

async fn a_session_is_listed_and_read_as_it_was_held(version: &str) {
    let Some(run) = Run::start(version, REMEMBER).await else {
        return;
    };
    run.turns(
        &["--session-id", SESSION],
        &["Remember the word heron", "Remember the number seven"],
    )
    .await;
    let project = run.transcripts.project(&run.sandbox.project());
    let listed = project.list(&ListOptions::default()).unwrap();
    let [info] = &listed[..] else {
        panic!("{listed:?}")
    };
    assert_eq!(info.id.as_str(), SESSION);
    assert_eq!(
        info.first_prompt.as_deref(),
        Some("Remember the word heron")
    );
    assert_eq!(info.cwd.as_deref(), Some(project.cwd()));
    assert_eq!(info.messages, info.messages.map(|_| 4));
    assert!(info.created.unwrap() <= info.modified && project.holds(&info.path));
    let read = messages(&run.session());
    let said = [
        ("user", "Remember the word heron"),
        ("assistant", "I will remember the word: heron."),
        ("user", "Remember the number seven"),
        ("assistant", "And the number: seven."),
    ];
    assert_eq!(
        read,
        said.map(|(role, text)| (role.to_owned(), text.to_owned()))
    );
    let broken = run
        .session()
        .entries()
        .unwrap()
        .filter(|line| line.as_ref().unwrap().entry().is_none());
    assert_eq!(broken.count(), 0);
}

async fn a_renamed_session_is_resumed_with_its_history(version: &str, reach: Reach) {
    let Some(run) = Run::start(version, REMEMBER).await else {
        return;
    };
    run.turns(
        &["--session-id", SESSION],
        &["Remember the word heron", "Remember the number seven"],
    )
    .await;
    run.session().rename("Birds and numbers").unwrap();
    run.session().tag(Some("keep")).unwrap();
    let found = run
        .transcripts
        .resolve_resume(&run.sandbox.project(), "birds and numbers", reach)
        .unwrap();
    assert_eq!(found.tag.as_deref(), Some("keep"));
    run.turns(&["--resume", found.id.as_str()], &["Which word?"])
        .await;
    run.last_request_holds(&["word heron", "number: seven", "Which word?"], &[]);
    let info = run.session().info().unwrap().unwrap();
    assert_eq!(
        (info.title(), info.tag.as_deref()),
        ("Birds and numbers", Some("keep"))
    );
    assert_eq!(messages(&run.session()).len(), 6);
}

async fn a_fork_is_resumed_with_the_history_it_was_given(version: &str) {
    let Some(run) = Run::start(version, REMEMBER).await else {
        return;
    };
    run.turns(
        &["--session-id", SESSION],
        &["Remember the word heron", "Remember the number seven"],
    )
    .await;
    let original = run.session();
    let before = std::fs::read(original.path()).unwrap();
    let branch = original.branch(&BranchOptions::default()).unwrap();
    let first_answer = branch.map(Result::unwrap).nth(1).unwrap();
    let options = ForkOptions {
        at: first_answer.uuid().map(str::to_owned),
        title: None,
    };
    let seed = ForkSeed {
        session: id(FORK),
        ..ForkSeed::random()
    };
    let fork = original.fork(&options, seed).unwrap();
    assert_eq!(messages(&fork), messages(&original)[..2]);
    let lines = run.turns(&["--resume", FORK], &["Which word?"]).await;
    let result = lines.last().unwrap();
    assert_eq!(
        (&result["session_id"], &result["result"]),
        (&json!(FORK), &json!("Here we are again."))
    );
    run.last_request_holds(
        &["word heron", "the word: heron", "Which word?"],
        &["seven"],
    );
    assert_eq!(
        std::fs::read(original.path()).unwrap(),
        before,
        "the original is as it was"
    );
    assert_eq!(messages(&fork).len(), 4);
}

const AGENTS: &str = r#"
reply
  say "I will send someone."
  tool Task {"description":"Count files","prompt":"Please count the files here","subagent_type":"general-purpose","run_in_background":false}
reply when "Please count the files here"
  say "There is one file."
reply
  say "Two at once."
  tool Bash {"command":"echo first-call","description":"a"}
  tool Bash {"command":"echo second-call","description":"b"}
reply
  say "They found one file."
reply
  say "Here we are again."
reply
  say "And again."
"#;

async fn sub_agents_and_parallel_calls_are_found(version: &str) {
    let Some(run) = Run::start(version, AGENTS).await else {
        return;
    };
    run.turns(&["--session-id", SESSION], &["How many files are there?"])
        .await;
    let agents = run.session().subagents().unwrap();
    let prompt = "Please count the files here";
    let agent = agents
        .iter()
        .find(|agent| agent.prompt.as_deref() == Some(prompt))
        .unwrap();
    let said: Vec<String> = agent
        .branch(&BranchOptions::default())
        .unwrap()
        .map(|entry| entry.unwrap().text())
        .collect();
    assert_eq!(said, [prompt, "There is one file."]);
    assert_eq!(run.session().subagent(&agent.id).unwrap().path, agent.path);
    let branch = run.session().branch(&BranchOptions::default()).unwrap();
    let all: String = branch
        .map(|entry| entry.unwrap().json().as_str().to_owned())
        .collect();
    for part in [
        "echo first-call",
        "echo second-call",
        "\"content\":\"first-call",
        "\"content\":\"second-call",
    ] {
        assert!(all.contains(part), "{part} is on the branch");
    }
    // The CLI makes as much of our fork as of its own. (Of its own 2.1.62 may lose one of two parallel calls.)
    let seed = ForkSeed {
        session: id(FORK),
        ..ForkSeed::random()
    };
    run.session().fork(&ForkOptions::default(), seed).unwrap();
    run.turns(&["--resume", SESSION, "--fork-session"], &["Go on"])
        .await;
    let of_its_own = run.last_tool_blocks();
    run.turns(&["--resume", FORK], &["Go on"]).await;
    run.last_request_holds(&["They found one file."], &[]);
    assert_eq!(run.last_tool_blocks(), of_its_own);
    assert!(of_its_own.len() >= 4, "{of_its_own:?}");
}

async fn a_deleted_session_is_unknown_to_the_cli_until_it_is_restored(version: &str) {
    let Some(run) = Run::start(version, REMEMBER).await else {
        return;
    };
    run.turns(&["--session-id", SESSION], &["Remember the word heron"])
        .await;
    let trashed = run.session().delete(SystemTime::now()).unwrap();
    assert!(matches!(
        run.transcripts.get(&id(SESSION)),
        Err(HistoryError::NotFound { .. })
    ));
    let refused = run.start_only(&["--resume", SESSION]).await;
    assert!(refused.contains("No conversation found"), "{refused}");
    let restored = run.transcripts.restore(&trashed).unwrap();
    run.turns(&["--resume", SESSION], &["Which word?"]).await;
    run.last_request_holds(&["word heron", "Which word?"], &[]);
    assert_eq!(messages(&restored).len(), 4);
}

/// A CLI in its sandbox with a scripted model.
struct Run {
    installed: Installed,
    sandbox: Sandbox,
    model: Server,
    transcripts: Transcripts,
}

impl Run {
    async fn start(version: &str, script: &str) -> Option<Self> {
        let installed = demand::cli(version)?;
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let model = Server::start(Script::parse(script).unwrap(), Options::default())
            .await
            .unwrap();
        let transcripts = Transcripts::at(sandbox.home().join(".claude"));
        Some(Self {
            installed,
            sandbox,
            model,
            transcripts,
        })
    }

    fn session(&self) -> Transcript {
        self.transcripts.get(&id(SESSION)).unwrap()
    }

    fn launch(&self, flags: &[&str]) -> Launch {
        Launch {
            base_url: self.model.base_url(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            env: vec![],
        }
    }

    /// Runs a CLI for these prompts, allows every tool, and waits for its end: only then is the transcript whole.
    async fn turns(&self, flags: &[&str], prompts: &[&str]) -> Vec<Value> {
        let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
        let sink = move |stream, line| drop(sender.send((stream, line)));
        let mut cli = self
            .sandbox
            .start(&self.installed, &self.launch(flags), sink)
            .unwrap();
        let mut said = Vec::new();
        for prompt in prompts {
            let message = json!({"role": "user", "content": prompt});
            let line = json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""});
            assert!(cli.write_line(&line.to_string()).await);
            loop {
                let (stream, line) = tokio::time::timeout(PATIENCE, lines.recv())
                    .await
                    .unwrap()
                    .expect("the CLI goes on");
                let Some(line) = (stream == CliStream::Stdout)
                    .then(|| serde_json::from_slice::<Value>(&line).unwrap())
                else {
                    continue;
                };
                said.push(line.clone());
                if line["request"]["subtype"] == "can_use_tool" {
                    let allow =
                        json!({"behavior": "allow", "updatedInput": line["request"]["input"]});
                    let response = json!({"subtype": "success", "request_id": line["request_id"], "response": allow});
                    cli.write_line(
                        &json!({"type": "control_response", "response": response}).to_string(),
                    )
                    .await;
                }
                if line["type"] == "result" {
                    assert_eq!(line["subtype"], "success", "{line}");
                    break;
                }
            }
        }
        cli.close_stdin();
        let ended = tokio::time::timeout(PATIENCE, cli.exited())
            .await
            .unwrap()
            .unwrap();
        assert!(ended.status.success(), "{ended:?}");
        said
    }

    /// Runs a CLI that is expected to refuse, and gives all it said.
    async fn start_only(&self, flags: &[&str]) -> String {
        let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
        let sink = move |_, line: Vec<u8>| drop(sender.send(line));
        let mut cli = self
            .sandbox
            .start(&self.installed, &self.launch(flags), sink)
            .unwrap();
        cli.close_stdin();
        let ended = tokio::time::timeout(PATIENCE, cli.exited())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(ended.status.code(), Some(1));
        let mut said = String::new();
        while let Ok(line) = lines.try_recv() {
            said.push_str(&String::from_utf8_lossy(&line));
        }
        said
    }

    /// The messages of the last turn the model was asked for.
    fn last_messages(&self) -> Value {
        let requests = self.model.requests();
        let mut turns = requests.iter().rev();
        let last = turns.find(|request| request.kind == Kind::Main).unwrap();
        let Kept::Json(body) = &last.body else {
            panic!("{:?}", last.body)
        };
        body["messages"].clone()
    }

    /// The ids of the tool calls and results in them, in order.
    fn last_tool_blocks(&self) -> Vec<String> {
        let messages = self.last_messages();
        let contents = messages.as_array().unwrap().iter();
        let blocks =
            contents.flat_map(|message| message["content"].as_array().into_iter().flatten());
        let tools = blocks.filter_map(|block| match block["type"].as_str()? {
            "tool_use" => Some(format!("call {}", block["id"])),
            "tool_result" => Some(format!("result {}", block["tool_use_id"])),
            _ => None,
        });
        tools.collect()
    }

    /// The last turn the model was asked for holds these texts, and not those.
    fn last_request_holds(&self, texts: &[&str], absent: &[&str]) {
        let messages = self.last_messages().to_string();
        for text in texts {
            assert!(messages.contains(text), "{text:?} in {messages}");
        }
        for text in absent {
            assert!(!messages.contains(text), "no {text:?} in {messages}");
        }
    }
}

fn id(text: &str) -> SessionUuid {
    SessionUuid::parse(text).unwrap()
}

fn messages(transcript: &Transcript) -> Vec<(String, String)> {
    let branch = transcript
        .branch(&BranchOptions::default())
        .unwrap()
        .map(Result::unwrap);
    branch
        .map(|entry| (entry.kind().to_owned(), entry.text()))
        .collect()
}
