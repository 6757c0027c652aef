//! What the scribe writes is read by others: our own client.

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
