//! Hooks before a call: what each answer does, and what becomes of a callback that fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_client::hook::{Answer, HookContext, PermissionRequest, PreToolUse};
use countersign_client::wire::control::OnFailure;
use countersign_client::wire::hooks::{HookDecision, PreToolUseInput};
use countersign_client::{Claude, Hook, HookError, Session};
use serde_json::{Value, json};

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::look::{allowing, answering, close, connect, ended, noted, noting, question, turns};
use crate::stage::{Stage, soon};

cases! {
    before_a_call {
        "hooks/PreToolUse allow" => "the call ran, and no question came",
        "hooks/PreToolUse deny" => "the call did not run, and the model was sent the reason",
        "hooks/PreToolUse ask" => "the question came",
        "hooks/PreToolUse ask, with a reason" => "the question carries the reason",
        "hooks/PreToolUse ask, of a free command" => "the question came for a command that is never asked about",
        "hooks/PreToolUse no opinion" => "the question came as usual",
        "hooks/PreToolUse changed input, asked about" => "without a decision the question was about the changed input",
        "hooks/PreToolUse allow, with changed input" => "the changed command ran",
        "hooks/PreToolUse end of the turn" => "the call ran, and the turn ended after it",
    }
    when_a_hook_fails {
        "hooks/callback that fails" => "the call was refused with its text",
        "hooks/callback that panics" => "the call was refused",
        "hooks/time-out" => "the callback's future was dropped; 2.1.325 refused the call, older ones asked",
        "hooks/several for one call" => "all were called, and the denial won",
    }
    answer_of_no_use {
        "hooks/answer of no use" => "the question came as if there was no hook",
        "hooks/onFailure block" => "with it the call was refused",
    }
    defer {
        "hooks/PreToolUse defer" => "the turn ended without the call, as tool_deferred",
    }
    permission_request {
        "hooks/PermissionRequest" => "its answer came first: the question was withdrawn, and the call ran",
    }
}

/// What the callbacks saw.
type Seen = Arc<Mutex<Vec<String>>>;

fn count(seen: &Seen, what: &str) -> usize {
    seen.lock()
        .unwrap()
        .iter()
        .filter(|seen| *seen == what)
        .count()
}

/// Decides by a word in the command.
async fn decide(call: PreToolUseInput, _: HookContext) -> Result<Answer<PreToolUse>, HookError> {
    let command = call.tool_input.as_str();
    let says = |word: &str| command.contains(word);
    let instead = || json!({"command": noted("changed"), "description": "changed"}).into();
    Ok(match () {
        () if says("allow-other") => PreToolUse::allow().with_input(instead()),
        () if says("other") => PreToolUse::pass().with_input(instead()),
        () if says("allow") => PreToolUse::allow(),
        () if says("deny") => PreToolUse::deny("The hook says no."),
        () if says("ask") || says("free") => PreToolUse::ask("The hook wants to know."),
        () if says("defer") => PreToolUse::defer(),
        () if says("end") => PreToolUse::allow().end_turn("That was it."),
        () if says("fail") => return Err(HookError("The hook broke.".into())),
        () if says("panic") => panic!("a hook that panics, as the test wants"),
        () => PreToolUse::pass(),
    })
}

async fn before_a_call(cli: Cli) -> Verdicts {
    let free = r#"Bash {"command":"echo free","description":"free"}"#;
    let words = ["allow", "deny", "none", "other", "allow-other", "ask"].map(noting);
    let calls = words.iter().map(String::as_str);
    let mut script = turns(calls.chain([free]));
    script += &format!("reply\n  tool {}\n", noting("end"));
    let stage = cli.stage(&script).await;
    let hook = Hook::of(PreToolUse, decide).matching("Bash");
    let mut session = connect(stage.claude().questions().hook(hook)).await;

    assert_eq!((allowing(&mut session).await, stage.ran("allow")), (0, 1));
    assert_eq!((allowing(&mut session).await, stage.ran("deny")), (0, 0));
    let told = stage.last_result();
    assert!(told.is_error && told.text.contains("The hook says no."));
    assert_eq!((allowing(&mut session).await, stage.ran("none")), (1, 1));
    let changed = changed_input(&stage, &mut session).await;
    let (with_reason, of_free) = forced_question(&stage, &mut session).await;

    let asked = stage.asked().len();
    answering(&mut session, |question| question.allow().unwrap()).await;
    let asked = stage.asked().len() - asked;
    assert_eq!(
        (stage.ran("end"), asked),
        (1, 1),
        "the model is not asked again"
    );
    close(session).await;
    Verdicts::new()
        .pass("hooks/PreToolUse allow")
        .pass("hooks/PreToolUse deny")
        .pass("hooks/PreToolUse ask")
        .say("hooks/PreToolUse ask, with a reason", with_reason)
        .say("hooks/PreToolUse ask, of a free command", of_free)
        .pass("hooks/PreToolUse no opinion")
        .say("hooks/PreToolUse changed input, asked about", changed)
        .pass("hooks/PreToolUse allow, with changed input")
        .pass("hooks/PreToolUse end of the turn")
}

/// A changed input without a decision, then with an allow.
async fn changed_input(stage: &Stage, session: &mut Session) -> Verdict {
    let mut about = String::new();
    answering(session, |question| {
        about = question.input.as_str().to_owned();
        question.allow().unwrap();
    })
    .await;
    let (is_changed, ran) = (about.contains("changed"), stage.ran("changed"));
    assert_eq!(
        (is_changed, ran),
        (!stage.cli.is(OLDEST), usize::from(is_changed))
    );
    assert_eq!(
        (allowing(session).await, stage.ran("changed")),
        (0, ran + 1)
    );
    match is_changed {
        true => Pass,
        false => NotInVersion("the changed input is ignored".into()),
    }
}

/// A hook that wants the question: for a call that would be asked about, and for one that would not.
async fn forced_question(stage: &Stage, session: &mut Session) -> (Verdict, Verdict) {
    let mut reason = String::new();
    let (_, asked) = answering(session, |question| {
        reason = question.decision_reason.clone().unwrap_or_default();
        question.allow().unwrap();
    })
    .await;
    assert_eq!((asked, stage.ran("ask")), (1, 1));
    let is_told = reason.contains("The hook wants to know.");
    let asked = allowing(session).await;
    match (is_told, asked) {
        (true, 1) if stage.cli.is_newest() => (Pass, Pass),
        (false, 0) if !stage.cli.is_newest() => (
            NotInVersion("the question comes without the reason".into()),
            NotInVersion("it ran without a question".into()),
        ),
        other => panic!("{other:?}"),
    }
}

/// An answer that the CLI cannot use.
async fn useless(_: PreToolUseInput, _: HookContext) -> Answer<PreToolUse> {
    PreToolUse::pass()
        .with_own(|own| own.permission_decision = Some(HookDecision::Other("perhaps".into())))
}

/// Says when it is dropped.
struct Dropped(Seen);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("dropped".into());
    }
}

/// A hook that never answers, and says when it is given up.
fn never(seen: &Seen) -> Hook {
    let seen = Arc::clone(seen);
    Hook::of(PreToolUse, move |_, _| {
        let dropped = Dropped(Arc::clone(&seen));
        async move {
            let _dropped = dropped;
            std::future::pending::<()>().await;
        }
    })
}

/// Two hooks for one call: the first denies, the second allows and says that it was called.
fn two(seen: &Seen) -> [Hook; 2] {
    let seen = Arc::clone(seen);
    let first = Hook::of(PreToolUse, |_, _| async {
        PreToolUse::deny("One says no.")
    });
    let second = Hook::of(PreToolUse, move |_, _| {
        seen.lock().unwrap().push("second".into());
        async { PreToolUse::allow() }
    });
    [first, second]
}

async fn when_a_hook_fails(cli: Cli) -> Verdicts {
    let (fail, panic) = (noting("fail"), noting("panic"));
    let stage = cli
        .stage(&turns([
            fail.as_str(),
            &panic,
            r#"Write {"file_path":"${cwd}/late.txt","content":"x"}"#,
            r#"WebFetch {"url":"https://example.invalid/","prompt":"What is there?"}"#,
        ]))
        .await;
    let seen: Seen = Arc::default();
    let late = never(&seen)
        .matching("Write")
        .timeout(Duration::from_secs(1));
    let claude = stage.claude().questions().hook(late);
    let claude = claude.hook(Hook::of(PreToolUse, decide).matching("Bash"));
    let hooks = two(&seen).map(|hook| hook.matching("WebFetch"));
    let mut session = connect(hooks.into_iter().fold(claude, Claude::hook)).await;

    assert_eq!((allowing(&mut session).await, stage.ran("fail")), (0, 0));
    let told = stage.last_result();
    assert!(
        told.is_error && told.text.contains("The hook broke."),
        "{told:?}"
    );
    assert_eq!((allowing(&mut session).await, stage.ran("panic")), (0, 0));
    assert!(stage.last_result().is_error);
    let asked = allowing(&mut session).await;
    assert_eq!(asked, usize::from(!cli.is_newest()));
    assert_eq!(stage.path("late.txt").exists(), !cli.is_newest());
    assert_eq!(count(&seen, "dropped"), 1);
    let asked = allowing(&mut session).await;
    assert_eq!((asked, count(&seen, "second")), (0, 1));
    assert!(stage.last_result().is_error, "{:?}", stage.last_result());
    close(session).await;
    Verdicts::new()
        .pass("hooks/callback that fails")
        .pass("hooks/callback that panics")
        .pass("hooks/time-out")
        .pass("hooks/several for one call")
}

async fn answer_of_no_use(cli: Cli) -> Verdicts {
    let calls = [
        noting("ignored"),
        r#"Write {"file_path":"${cwd}/blocked.txt","content":"x"}"#.to_owned(),
    ];
    let stage = cli.stage(&turns(calls.iter().map(String::as_str))).await;
    let blocking = Hook::of(PreToolUse, useless)
        .matching("Write")
        .on_failure(OnFailure::Block);
    let claude = stage
        .claude()
        .questions()
        .hook(Hook::of(PreToolUse, useless).matching("Bash"))
        .hook(blocking);
    let mut session = connect(claude).await;
    assert_eq!((allowing(&mut session).await, stage.ran("ignored")), (1, 1));
    let asked = allowing(&mut session).await;
    let was_written = stage.path("blocked.txt").exists();
    close(session).await;
    let blocked = match (asked, was_written) {
        (0, false) if cli.is_newest() => Pass,
        (1, true) if !cli.is_newest() => NotInVersion("the question came all the same".into()),
        other => panic!("{other:?}"),
    };
    Verdicts::new()
        .pass("hooks/answer of no use")
        .say("hooks/onFailure block", blocked)
}

async fn defer(cli: Cli) -> Verdicts {
    let stage = cli.stage(&turns([noting("defer").as_str()])).await;
    let mut session = connect(
        stage
            .claude()
            .questions()
            .hook(Hook::of(PreToolUse, decide)),
    )
    .await;
    let (result, asked) = answering(&mut session, |question| question.allow().unwrap()).await;
    let line: Value = serde_json::from_slice(result.line()).unwrap();
    close(session).await;
    if cli.is_newest() {
        assert_eq!((asked, stage.ran("defer")), (0, 0));
        assert_eq!(line["terminal_reason"], "tool_deferred");
        return Pass.into();
    }
    assert_eq!((asked, stage.ran("defer")), (1, 1));
    NotInVersion("the question came as if there was no hook".into()).into()
}

async fn permission_request(cli: Cli) -> Verdicts {
    let stage = cli.stage(&turns([noting("raced").as_str()])).await;
    let hook = Hook::of(PermissionRequest, |_, _| async {
        PermissionRequest::allow()
    });
    let mut session = connect(stage.claude().questions().hook(hook)).await;
    let turn = session.send("Race.").await.unwrap();
    let asked = question(&mut session.questions).await;
    if cli.is(OLDEST) {
        asked.allow().unwrap();
        ended(turn).await;
        close(session).await;
        return NotInVersion("only the question came, and waited for its answer".into()).into();
    }
    soon("the withdrawal", asked.interest().withdrawn()).await;
    assert!(ended(turn).await.is_success());
    assert_eq!(stage.ran("raced"), 1);
    close(session).await;
    Pass.into()
}
