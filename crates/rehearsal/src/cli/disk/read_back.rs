//! What the scribe writes is read by others: our own client, and on Linux the real CLI where it is installed.

use countersign_client::history::{BranchOptions, ListOptions, SessionUuid, Transcripts};

use super::past::find;
use super::tests::{FORK, SESSION, Stage, call, said};
use super::*;

const HELPER: &str = "a3571acfcbda5fccf";

fn hold(stage: &mut Stage) {
    stage.turn("How many files are there?");
    stage.answer(
        None,
        &[said("I will send someone."), call("Task", "toolu_1")],
    );
    let note = AgentNote {
        kind: "general-purpose".to_owned(),
        description: "Count files".to_owned(),
        tool_use_id: "toolu_1".to_owned(),
    };
    stage.scribe.agent_started(HELPER, &note);
    stage.aside(Some(HELPER), "Please count the files here", Aside::Plain);
    stage.answer(Some(HELPER), &[said("There is one file.")]);
    stage.result("toolu_1");
    stage.answer(None, &[call("Bash", "toolu_2"), call("Bash", "toolu_3")]);
    stage.result("toolu_2");
    stage.result("toolu_3");
    stage.say("They found one heron.");
    stage.scribe.renamed("Counting birds");
    stage.end();
}

#[test]
fn our_client_lists_and_reads_a_session_its_sub_agents_and_its_fork() {
    let mut stage = Stage::new();
    hold(&mut stage);
    stage.fork(&stage.past());
    stage.turn("Which?");
    stage.say("A grey one.");
    stage.end();
    let transcripts = Transcripts::at(&stage.places.config_dir);
    let project = transcripts.project(&stage.places.cwd);
    let listed = project.list(&ListOptions::default()).unwrap();
    assert_eq!(listed.len(), 2);
    for info in &listed {
        assert_eq!(info.title(), "Counting birds");
        assert_eq!(
            info.first_prompt.as_deref(),
            Some("How many files are there?")
        );
        assert_eq!(info.cwd.as_deref(), Some(&*stage.places.cwd));
        assert!(info.is_programmatic());
    }
    let read = |session: &str| {
        let transcript = transcripts
            .get(&SessionUuid::parse(session).unwrap())
            .unwrap();
        let branch = transcript.branch(&BranchOptions::default()).unwrap();
        branch
            .map(|entry| entry.unwrap().text())
            .collect::<Vec<_>>()
    };
    let (original, fork) = (read(SESSION), read(FORK));
    assert_eq!(original.len(), 9);
    assert_eq!(
        original.last().map(String::as_str),
        Some("They found one heron.")
    );
    assert_eq!((&fork[..9], fork.len()), (&original[..], 11));
    let session = transcripts
        .get(&SessionUuid::parse(SESSION).unwrap())
        .unwrap();
    let agents = session.subagents().unwrap();
    assert_eq!(agents.len(), 1);
    let agent = &agents[0];
    assert_eq!(
        (&*agent.id, agent.agent_type.as_deref()),
        (HELPER, Some("general-purpose"))
    );
    assert_eq!(agent.prompt.as_deref(), Some("Please count the files here"));
    assert_eq!(
        (agent.description.as_deref(), agent.tool_use_id.as_deref()),
        (Some("Count files"), Some("toolu_1"))
    );
}

#[test]
fn we_go_on_with_what_our_client_renamed_and_forked() {
    let mut stage = Stage::new();
    hold(&mut stage);
    let transcripts = Transcripts::at(&stage.places.config_dir);
    let session = transcripts
        .get(&SessionUuid::parse(SESSION).unwrap())
        .unwrap();
    session.rename("Another name").unwrap();
    session.tag(Some("kept")).unwrap();
    assert_eq!(stage.past().title.as_deref(), Some("Another name"));
    let seed = countersign_client::history::ForkSeed::random();
    let fork = session.fork(&Default::default(), seed).unwrap();
    let past = find(&stage.places, fork.id().as_str()).unwrap();
    assert_eq!(past.messages.len(), stage.past().messages.len());
    assert!(past.unanswered().is_empty());
}

#[cfg(target_os = "linux")]
mod on_the_real_cli {
    use std::time::Duration;

    use countersign_testkit::demand;
    use countersign_testkit::sandbox::{CliStream, Launch, RunAs, Sandbox};
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{Kept, Kind, Options, Script, Server};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Resumes a session with the real CLI, and gives the result line and the messages the model was sent.
    async fn resume(
        sandbox: &Sandbox,
        installed: &countersign_testkit::fetch::Installed,
        flags: &[&str],
    ) -> (Value, Value) {
        let script = Script::parse("reply\n  say \"It was grey.\"\n").unwrap();
        let model = Server::start(script, Options::default()).await.unwrap();
        let launch = Launch {
            base_url: model.base_url(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            env: vec![],
        };
        let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
        let sink = move |stream, line| drop(sender.send((stream, line)));
        let mut cli = sandbox.start(installed, &launch, sink).unwrap();
        let message = json!({"role": "user", "content": "Which colour?"});
        let line = json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""});
        assert!(cli.write_line(&line.to_string()).await);
        let result = loop {
            let line = tokio::time::timeout(PATIENCE, lines.recv()).await.unwrap();
            let (stream, line) = line.expect("the CLI goes on until its result");
            let line: Value = serde_json::from_slice(&line).unwrap_or_default();
            if stream == CliStream::Stdout && line["type"] == "result" {
                break line;
            }
        };
        cli.close_stdin();
        tokio::time::timeout(PATIENCE, cli.exited())
            .await
            .unwrap()
            .unwrap();
        let requests = model.requests();
        let main = requests
            .iter()
            .rev()
            .find(|request| request.kind == Kind::Main);
        let messages = match main.map(|request| &request.body) {
            Some(Kept::Json(body)) => body["messages"].clone(),
            other => panic!("{other:?} in {result}"),
        };
        (result, messages)
    }

    #[tokio::test]
    async fn it_resumes_and_forks_what_the_scribe_wrote_and_the_scribe_goes_on_from_there() {
        let Some(installed) = demand::cli("newest") else {
            return;
        };
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let config = sandbox.home().join(".claude");
        let mut stage = Stage::at(Places::at(&config, sandbox.project()));
        hold(&mut stage);
        let (result, messages) =
            resume(&sandbox, &installed, &["--resume", "counting BIRDS"]).await;
        assert_eq!(
            (&result["result"], &result["session_id"]),
            (&json!("It was grey."), &json!(SESSION))
        );
        let history = messages.to_string();
        let parts = [
            "How many files",
            "send someone",
            "toolu_1",
            "toolu_2",
            "toolu_3",
            "one heron",
            "Which colour?",
        ];
        for part in parts {
            assert!(history.contains(part), "{part} in {history}");
        }
        let fork = ["--resume", SESSION, "--fork-session", "--session-id", FORK];
        let (result, messages) = resume(&sandbox, &installed, &fork).await;
        assert_eq!(result["session_id"], FORK);
        assert!(messages.to_string().contains("It was grey."), "{messages}");

        // Its own files, now, are gone on with by the scribe.
        let past = find(&stage.places, FORK).unwrap();
        assert_eq!(past.messages.len(), 13);
        assert_eq!(past.title.as_deref(), Some("Counting birds"));
        assert!(
            past.cost.as_ref().unwrap()["totalCostUSD"]
                .as_f64()
                .unwrap()
                > 0.0
        );
        stage.resume(&past);
        stage.turn("And its beak?");
        stage.say("Yellow.");
        stage.end();
        let (_, messages) = resume(&sandbox, &installed, &["--resume", FORK]).await;
        assert!(messages.to_string().contains("Yellow."), "{messages}");
    }
}
