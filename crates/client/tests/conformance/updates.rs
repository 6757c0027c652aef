//! Changes that go with an allow: every kind, every place where it is kept. The CLI writes its settings beside the turn, and on a
//! busy machine the turn ends first: files are waited for.

use countersign_client::wire::permission::{PermissionUpdate, RuleBehavior, RuleDestination};
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Decision, Notice, Rule, Session, Update};
use serde_json::Value;

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdicts};
use crate::look::{allowing, answering, close, connect, noted, noting, run, turns};
use crate::stage::{Stage, init, line, lines, notices, until};

cases! {
    places {
        "updates/addRules session" => "the same command ran again without a question",
        "updates/addRules localSettings" => "it stands in .claude/settings.local.json, and no question came again",
        "updates/addRules projectSettings" => "it stands in .claude/settings.json",
        "updates/project rule in an untrusted folder" => "no question came again; 2.1.325 asks again",
        "updates/addRules userSettings" => "it stands in the settings of the user, and no question came again",
        "updates/addRules cliArg" => "no question came again, nothing was written",
        "updates/suggestion of the CLI" => "given back as `always allow`: it stands in the settings, the mode is as it was",
    }
    behaviours {
        "updates/addRules deny" => "the next such call was denied without a question",
        "updates/denial by a rule is told" => "system/permission_denied came",
        "updates/addRules ask" => "a command that is free was asked about",
        "updates/removeRules" => "the command is asked about again",
        "updates/replaceRules" => "the old rule is gone, the new one holds",
    }
    rules_of_the_command_line {
        "updates/removeRules cliArg" => "a rule of --allowedTools is gone: the command is asked about",
    }
    directories {
        "updates/addDirectories" => "files there are read without a question",
        "updates/removeDirectories" => "files there are asked about again",
        "updates/addDirectories localSettings" => "the folder stands in .claude/settings.local.json",
    }
    modes {
        "updates/setMode acceptEdits" => "the next Write ran without a question, and init says it",
        "updates/setMode is announced" => "system/status came with the mode",
        "updates/setMode plan" => "init says plan",
        "updates/setMode default" => "init says default",
        "updates/setMode userSettings" => "defaultMode stands in the settings of the user",
        "updates/setMode dontAsk" => "init says dontAsk, and what would be asked about was denied",
    }
    modes_not_everywhere {
        "updates/setMode auto" => "init says auto; left out with a notice where a version lacks it, and the call still ran",
        "updates/setMode bypassPermissions, not launched for it" => "the next call ran without a question",
        "updates/unknown destination" => "left out with a notice, and the call still ran",
        "updates/unknown mode" => "left out with a notice, and the call still ran",
    }
}

fn rule(word: &str) -> Rule {
    Rule::tool("Bash").content(noted(word))
}

/// Runs a turn in which every question is allowed, with `update`. How many there were.
async fn with(session: &mut Session, update: impl Into<PermissionUpdate>) -> usize {
    let update = update.into();
    let (result, count) = answering(session, |question| {
        let decision = Decision::allow().with_update(update.clone());
        question.answer(decision).unwrap();
    })
    .await;
    assert!(result.is_success(), "{result:?}");
    count
}

/// Nothing where the file is not there, or is just being written.
fn settings(text: Option<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

fn local(stage: &Stage) -> Value {
    settings(stage.read(".claude/settings.local.json"))
}

fn project(stage: &Stage) -> Value {
    settings(stage.read(".claude/settings.json"))
}

fn user(stage: &Stage) -> Value {
    settings(stage.read_home(".claude/settings.json"))
}

fn allows(settings: &Value, rule: &Rule) -> bool {
    let rules = settings["permissions"]["allow"]
        .as_array()
        .into_iter()
        .flatten();
    rules.into_iter().any(|listed| listed == &rule.to_string())
}

async fn places(cli: Cli) -> Verdicts {
    let words = ["session", "local", "project", "user", "cli", "suggested"];
    let calls: Vec<String> = words
        .iter()
        .flat_map(|word| [noting(word), noting(word)])
        .collect();
    let stage = cli.stage(&turns(calls.iter().map(String::as_str))).await;
    let mut session = stage.asking().await;
    let mut asked_again = Vec::new();
    for word in &words[..5] {
        let update = Update::allow([rule(word)]);
        let update = match *word {
            "session" => update.in_session(),
            "local" => update.in_local_settings(),
            "project" => update.in_project_settings(),
            "user" => update.in_user_settings(),
            _ => update.for_cli_arguments(),
        };
        assert_eq!(with(&mut session, update).await, 1);
        if allowing(&mut session).await > 0 {
            asked_again.push(*word);
        }
        assert_eq!(stage.ran(word), 2);
    }
    // The rule of an untrusted project is written and not honoured by 2.1.325.
    let untrusted = match cli.is_newest() {
        true => NotInVersion("it asks again: the folder was not trusted".into()),
        false => Pass,
    };
    assert_eq!(
        asked_again,
        if cli.is_newest() {
            vec!["project"]
        } else {
            vec![]
        }
    );
    for (word, place) in [
        ("local", local(&stage)),
        ("project", project(&stage)),
        ("user", user(&stage)),
    ] {
        let listed = words.iter().filter(|word| allows(&place, &rule(word)));
        assert_eq!(listed.collect::<Vec<_>>(), [&word], "{place}");
    }
    suggestion(&stage, &mut session).await;
    close(session).await;
    Verdicts::new()
        .pass("updates/addRules session")
        .pass("updates/addRules localSettings")
        .pass("updates/addRules projectSettings")
        .say("updates/project rule in an untrusted folder", untrusted)
        .pass("updates/addRules userSettings")
        .pass("updates/addRules cliArg")
        .pass("updates/suggestion of the CLI")
}

async fn suggestion(stage: &Stage, session: &mut Session) {
    let kept = || stage.read(".claude/settings.local.json");
    let before = kept();
    let (_, count) = answering(session, |question| {
        let decision = Decision::allow_always(&question);
        question.answer(decision).unwrap();
    })
    .await;
    assert_eq!(count, 1);
    until("the suggestion is kept", || kept() != before).await;
    assert_eq!(allowing(session).await, 0);
    assert_eq!(stage.ran("suggested"), 2);
    assert_eq!(session.permission_mode().as_deref(), Some("default"));
}

async fn behaviours(cli: Cli) -> Verdicts {
    let free = r#"Bash {"command":"echo free","description":"free"}"#;
    let calls = [
        noting("first"),
        noting("denied"),
        noting("second"),
        free.to_owned(),
        noting("kept"),
        noting("third"),
        noting("kept"),
        noting("old"),
        noting("fourth"),
        noting("old"),
        noting("new"),
    ];
    let stage = cli.stage(&turns(calls.iter().map(String::as_str))).await;
    let mut session = stage.asking().await;

    assert_eq!(with(&mut session, Update::deny([rule("denied")])).await, 1);
    lines(&mut session.events);
    assert_eq!(allowing(&mut session).await, 0);
    assert!(stage.ran("denied") == 0 && stage.last_result().is_error);
    let is_told = |line: &Value| line["subtype"] == "permission_denied";
    let told = match lines(&mut session.events).iter().any(is_told) {
        true if cli.is_newest() => Pass,
        false if !cli.is_newest() => NotInVersion("denied without a word to the host".into()),
        told => panic!("told: {told}"),
    };

    with(&mut session, Update::ask_rule("Bash(echo free)").unwrap()).await;
    assert_eq!(allowing(&mut session).await, 1);

    let allow = RuleBehavior::Allow;
    with(&mut session, Update::allow([rule("kept")])).await;
    with(&mut session, Update::remove(allow.clone(), [rule("kept")])).await;
    assert_eq!(allowing(&mut session).await, 1, "the rule was removed");

    with(&mut session, Update::allow([rule("old")])).await;
    with(&mut session, Update::replace(allow, [rule("new")])).await;
    assert_eq!(allowing(&mut session).await, 1, "the rule was replaced");
    assert_eq!(allowing(&mut session).await, 0, "by this one");
    assert_eq!((stage.ran("old"), stage.ran("new")), (2, 1));
    close(session).await;
    Verdicts::new()
        .pass("updates/addRules deny")
        .say("updates/denial by a rule is told", told)
        .pass("updates/addRules ask")
        .pass("updates/removeRules")
        .pass("updates/replaceRules")
}

async fn rules_of_the_command_line(cli: Cli) -> Verdicts {
    let calls = [noting("given"), noting("other"), noting("given")];
    let stage = cli.stage(&turns(calls.iter().map(String::as_str))).await;
    let claude = stage
        .claude()
        .questions()
        .allowed_tools([rule("given").to_string()]);
    let mut session = connect(claude).await;
    assert_eq!(allowing(&mut session).await, 0);
    let removal = Update::remove(RuleBehavior::Allow, [rule("given")]).for_cli_arguments();
    assert_eq!(with(&mut session, removal).await, 1);
    assert_eq!(allowing(&mut session).await, 1);
    assert_eq!(stage.ran("given"), 2);
    close(session).await;
    Pass.into()
}

async fn directories(cli: Cli) -> Verdicts {
    let read = r#"Read {"file_path":"${cwd}/../outside/a.txt"}"#;
    let (other, third) = (noting("other"), noting("third"));
    let stage = cli
        .stage(&turns([read, read, &other, read, &third, read]))
        .await;
    let dir = stage.sandbox.root().join("outside");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("a.txt"), "outside\n").unwrap();
    let dir = dir.to_string_lossy().into_owned();
    let mut session = stage.asking().await;

    assert_eq!(
        with(&mut session, Update::add_directories([dir.clone()])).await,
        1
    );
    assert_eq!(allowing(&mut session).await, 0);
    assert!(stage.last_result().text.contains("outside"));
    with(&mut session, Update::remove_directories([dir.clone()])).await;
    assert_eq!(allowing(&mut session).await, 1);
    with(
        &mut session,
        Update::add_directories([dir.clone()]).in_local_settings(),
    )
    .await;
    until("the folder stands in the settings", || {
        local(&stage)["permissions"]["additionalDirectories"][0] == dir
    })
    .await;
    assert_eq!(allowing(&mut session).await, 0);
    close(session).await;
    Verdicts::new()
        .pass("updates/addDirectories")
        .pass("updates/removeDirectories")
        .pass("updates/addDirectories localSettings")
}

/// The mode that `init` of the running turn told.
async fn mode_at_start(session: &mut Session) -> String {
    let init = init(&mut session.events).await;
    init["permissionMode"].as_str().unwrap().to_owned()
}

async fn modes(cli: Cli) -> Verdicts {
    let write = r#"Write {"file_path":"${cwd}/note.txt","content":"x"}"#;
    let calls = [
        noting("a"),
        write.to_owned(),
        noting("b"),
        noting("c"),
        noting("d"),
        noting("e"),
    ];
    let stage = cli.stage(&turns(calls.iter().map(String::as_str))).await;
    let mut session = stage.asking().await;

    assert_eq!(
        with(&mut session, Update::mode(PermissionMode::AcceptEdits)).await,
        1
    );
    assert_eq!(mode_at_start(&mut session).await, "default");
    let announced = match cli.is(OLDEST) {
        true => NotInVersion("no system/status comes".into()),
        false => {
            let status = line(&mut session.events, "status", |line| {
                line["subtype"] == "status" && line["permissionMode"] == "acceptEdits"
            });
            status.await;
            Pass
        }
    };
    assert_eq!(allowing(&mut session).await, 0);
    assert!(stage.path("note.txt").exists());
    assert_eq!(mode_at_start(&mut session).await, "acceptEdits");

    assert_eq!(
        with(&mut session, Update::mode(PermissionMode::Plan)).await,
        1
    );
    assert_eq!(mode_at_start(&mut session).await, "acceptEdits");
    let back = Update::mode(PermissionMode::Default).in_user_settings();
    assert_eq!(with(&mut session, back).await, 1);
    assert_eq!(mode_at_start(&mut session).await, "plan");
    until("the mode stands in the settings", || {
        user(&stage)["permissions"]["defaultMode"] == "default"
    })
    .await;
    assert_eq!(
        with(&mut session, Update::mode(PermissionMode::DontAsk)).await,
        1
    );
    assert_eq!(mode_at_start(&mut session).await, "default");
    assert_eq!(allowing(&mut session).await, 0);
    assert_eq!(mode_at_start(&mut session).await, "dontAsk");
    assert!(stage.last_result().is_error && stage.ran("e") == 0);
    close(session).await;
    Verdicts::new()
        .pass("updates/setMode acceptEdits")
        .say("updates/setMode is announced", announced)
        .pass("updates/setMode plan")
        .pass("updates/setMode default")
        .pass("updates/setMode userSettings")
        .pass("updates/setMode dontAsk")
}

/// Whether the client said that it left an update out.
fn is_left_out(session: &mut Session) -> bool {
    let notices = notices(&mut session.events);
    let is_so = |notice: &Notice| matches!(notice, Notice::UpdatesDropped { .. });
    notices.iter().any(is_so)
}

async fn modes_not_everywhere(cli: Cli) -> Verdicts {
    let calls = [noting("a"), noting("b"), noting("c"), noting("d")];
    let mut script = turns(calls.iter().map(String::as_str));
    script += "reply\n  say \"Hello.\"\n";
    script += &turns([noting("e").as_str()]);
    let stage = cli.stage(&script).await;
    let mut session = stage.asking().await;
    let somewhere = Update::allow([rule("b")]).kept(RuleDestination::Other("elsewhere".into()));
    assert_eq!(with(&mut session, somewhere).await, 1);
    assert!(is_left_out(&mut session) && stage.ran("a") == 1);
    let unknown = Update::mode(PermissionMode::Other("banana".into()));
    assert_eq!(
        with(&mut session, unknown).await,
        1,
        "the rule before was left out"
    );
    assert!(is_left_out(&mut session) && stage.ran("b") == 1);

    // Not launched for it: 2.1.325 would ignore it in silence, so it is left out with a notice.
    let last = match cli.is_newest() {
        true => [PermissionMode::BypassPermissions, PermissionMode::Auto],
        false => [PermissionMode::Auto, PermissionMode::BypassPermissions],
    };
    for mode in last.clone() {
        assert_eq!(with(&mut session, Update::mode(mode)).await, 1);
        let is_last = stage.ran("d") == 1;
        assert_eq!(
            is_left_out(&mut session),
            !is_last,
            "only the last one is taken"
        );
    }
    run(&session, "Hello.").await;
    let mode = mode_at_start(&mut session).await;
    assert_eq!(mode, last[1].as_str());
    if !cli.is_newest() {
        assert_eq!(allowing(&mut session).await, 0);
        assert_eq!(stage.ran("e"), 1);
    }
    close(session).await;
    let (auto, bypass) = match cli.is_newest() {
        true => (
            Pass,
            NotInVersion("it needs a launch for it: left out with a notice".into()),
        ),
        false => (
            NotInVersion("this version does not have the mode: left out with a notice".into()),
            Pass,
        ),
    };
    Verdicts::new()
        .say("updates/setMode auto", auto)
        .say(
            "updates/setMode bypassPermissions, not launched for it",
            bypass,
        )
        .pass("updates/unknown destination")
        .pass("updates/unknown mode")
}
