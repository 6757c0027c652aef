//! The events that hooks are told of, and for which tools.

use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};

use countersign_client::hook::{
    PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse, SessionEnd, SessionStart, Stop,
    UserPromptSubmit,
};
use countersign_client::{Claude, Hook};
use serde_json::Value;

use crate::harness::{Cli, NotInVersion, Pass, Verdict, Verdicts};
use crate::look::{close, connect, run};

cases! {
    events {
        "hooks/UserPromptSubmit context" => "the model was sent the text",
        "hooks/UserPromptSubmit block" => "the model was not asked",
        "hooks/PostToolUse context" => "the model was sent the text",
        "hooks/PostToolUseFailure" => "called with the error",
        "hooks/PostToolBatch" => "called with the calls of the message",
        "hooks/Stop block" => "the turn went on with the reason, and the next Stop said so",
        "hooks/SessionStart and SessionEnd" => "called",
        "hooks/matchers" => "exact names, lists and regular expressions fired as they should, others did not",
    }
}

/// What the callbacks saw.
type Seen = Arc<Mutex<Vec<&'static str>>>;

fn times(seen: &Seen, what: &str) -> usize {
    let seen = seen.lock().unwrap();
    seen.iter().filter(|seen| **seen == what).count()
}

/// Matchers, and whether a call of Bash fits them.
const MATCHERS: [(&str, bool); 10] = [
    ("Bash", true),
    ("bash", false),
    ("Ba", false),
    ("Write", false),
    ("Write|Bash", true),
    ("^Bash$", true),
    ("^(?!Write$).*", true),
    (".*", true),
    ("*", true),
    ("", true),
];

/// Notes a call, and has no opinion.
type Note = Arc<dyn Fn(&'static str) -> Ready<()> + Send + Sync>;

/// Hooks for what happens to a prompt and at the end of a turn.
fn hooks_of_turns(claude: Claude, note: &Note) -> Claude {
    let (submitted, start, end, stop) = (note.clone(), note.clone(), note.clone(), note.clone());
    let submit = Hook::of(UserPromptSubmit, move |input, _| {
        let noted = submitted("UserPromptSubmit");
        async move {
            noted.await;
            match input.prompt.contains("forbidden") {
                true => UserPromptSubmit::block("Not this one."),
                false => UserPromptSubmit::context("The prompt was looked at."),
            }
        }
    });
    let stop = Hook::of(Stop, move |input, _| {
        let is_second = input.stop_hook_active;
        let noted = stop(if is_second { "Stop again" } else { "Stop" });
        async move {
            noted.await;
            match is_second {
                true => Stop::pass(),
                false => Stop::block("Do not stop yet."),
            }
        }
    });
    let start = Hook::of(SessionStart, move |_, _| start("SessionStart"));
    let end = Hook::of(SessionEnd, move |_, _| end("SessionEnd"));
    claude.hook(submit).hook(stop).hook(start).hook(end)
}

/// Hooks for what happens to a call.
fn hooks_of_calls(mut claude: Claude, note: &Note) -> Claude {
    let (used, failed, batch) = (note.clone(), note.clone(), note.clone());
    let used = Hook::of(PostToolUse, move |_, _| {
        let noted = used("PostToolUse");
        async {
            noted.await;
            PostToolUse::context("The call was looked at.")
        }
    });
    let failed = Hook::of(PostToolUseFailure, move |input, _| {
        assert!(!input.error.is_empty());
        failed("PostToolUseFailure")
    });
    let batch = Hook::of(PostToolBatch, move |input, _| {
        assert_eq!(input.tool_calls.len(), 1);
        batch("PostToolBatch")
    });
    for (matcher, _) in MATCHERS {
        let note = note.clone();
        let hook = Hook::of(PreToolUse, move |_, _| note(matcher));
        claude = claude.hook(hook.matching(matcher));
    }
    claude.hook(used).hook(failed).hook(batch)
}

const EVENTS: &str = r#"
reply
  tool Bash {"command":"echo fine","description":"fine"}
reply
  tool Bash {"command":"ls no-such-file","description":"fails"}
reply
  say "I stop."
reply
  say "I really stop."
"#;

async fn events(cli: Cli) -> Verdicts {
    let stage = cli.stage(EVENTS).await;
    let seen: Seen = Arc::default();
    let noted = Arc::clone(&seen);
    let note: Note = Arc::new(move |what| {
        noted.lock().unwrap().push(what);
        ready(())
    });
    let claude = hooks_of_calls(stage.claude().questions(), &note);
    let session = connect(hooks_of_turns(claude, &note)).await;
    let result = run(&session, "Begin.").await;
    assert_eq!(result.text(), "I really stop.");
    let asked = stage.asked();
    let sent = |request: &Value, text: &str| request["messages"].to_string().contains(text);
    assert!(sent(&asked[0], "The prompt was looked at."));
    assert!(sent(&asked[1], "The call was looked at."));
    assert!(sent(&asked[3], "Do not stop yet."));
    for (what, often) in [
        ("UserPromptSubmit", 1),
        ("PostToolUse", 1),
        ("Stop", 1),
        ("Stop again", 1),
    ] {
        assert_eq!(times(&seen, what), often, "{what}");
    }
    for (matcher, fits) in MATCHERS {
        assert_eq!(
            times(&seen, matcher),
            if fits { 2 } else { 0 },
            "{matcher:?}"
        );
    }
    assert_eq!(times(&seen, "PostToolUseFailure"), 1);
    let batch = verdict_of(times(&seen, "PostToolBatch"), 2, cli.is_newest());

    let before = stage.asked().len();
    run(&session, "This is forbidden.").await;
    assert_eq!(
        (stage.asked().len(), times(&seen, "UserPromptSubmit")),
        (before, 2)
    );
    close(session).await;
    let never = verdict_of(
        times(&seen, "SessionStart") + times(&seen, "SessionEnd"),
        2,
        false,
    );
    Verdicts::new()
        .pass("hooks/UserPromptSubmit context")
        .pass("hooks/UserPromptSubmit block")
        .pass("hooks/PostToolUse context")
        .pass("hooks/PostToolUseFailure")
        .say("hooks/PostToolBatch", batch)
        .pass("hooks/Stop block")
        .say("hooks/SessionStart and SessionEnd", never)
        .pass("hooks/matchers")
}

/// Called so often where a version has the event, and never where it has not.
fn verdict_of(called: usize, times: usize, has: bool) -> Verdict {
    match has {
        true => {
            assert_eq!(called, times);
            Pass
        }
        false => {
            assert_eq!(called, 0);
            NotInVersion("never called, while the hooks of other events were".into())
        }
    }
}
