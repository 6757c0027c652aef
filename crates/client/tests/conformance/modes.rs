//! Permission modes: set at launch and later, read back, and what they let through.

use countersign_client::wire::control::ControlErrorCode;
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Decision, Error, ModeTaken, Result, Session};

use crate::harness::{Cli, NotInVersion, Pass, Verdict, Verdicts};
use crate::stage::{Asked, Stage, turn};

cases! {
    set_later {
        "modes/before the first turn" => "a mode set before any message is in the first init",
        "modes/default" => "announced (2.1.325), in the next init; a Write is asked about; denied, it leaves no file",
        "modes/acceptEdits" => "announced (2.1.325), in the next init; a Write runs unasked and the file is there",
        "modes/plan" => "announced (2.1.325), in the next init; a Write is asked about",
        "modes/dontAsk" => "announced (2.1.325), in the next init; a Write is denied without a question",
        "modes/auto" => "announced, and in the next init",
        "modes/bypass without the flag" => "refused with a code by 2.1.325; in force on older ones, a Write outside runs unasked",
        "modes/unknown mode" => "refused by the CLI (2.1.325) or by the client, since older CLIs accept any word; the mode stays",
    }
    at_launch {
        "modes/at launch" => "the mode of the builder is in the first init",
        "modes/bypassPermissions" => "with the allow flag, entered later: a Write outside the project runs unasked",
    }
}

/// Each turn tries to write.
const WRITES: &str = r#"
reply always when "inside"
  tool Write {"file_path":"${cwd}/written.txt","content":"x"}
reply always when "outside"
  tool Write {"file_path":"${cwd}/../outside.txt","content":"x"}
reply always
  say "Well."
"#;

/// What became of a Write: whether it was asked about (and denied), and whether the file is there.
#[derive(Debug, PartialEq, Eq)]
struct Fate {
    asked: bool,
    written: bool,
}

const ASKED: Fate = Fate {
    asked: true,
    written: false,
};
const RAN: Fate = Fate {
    asked: false,
    written: true,
};
const DENIED: Fate = Fate {
    asked: false,
    written: false,
};

struct Scene {
    stage: Stage,
    session: Session,
    asked: Asked,
}

impl Scene {
    /// A turn that writes; the mode of its init, and what became of the Write.
    async fn write(&mut self, place: &str) -> (String, Fate) {
        let (init, _) = turn(&mut self.session, format!("Write {place}")).await;
        let file = match place {
            "inside" => self.stage.path("written.txt"),
            _ => self.stage.path("../outside.txt"),
        };
        let written = file.exists();
        if written {
            std::fs::remove_file(file).unwrap();
        }
        let asked = !self.asked.take().is_empty();
        let mode = init["permissionMode"].as_str().unwrap().to_owned();
        assert_eq!(self.session.permission_mode().as_ref(), Some(&mode));
        (mode, Fate { asked, written })
    }

    async fn mode(&self) -> String {
        self.session.permission_mode().unwrap()
    }
}

async fn set_later(cli: Cli) -> Verdicts {
    let stage = cli.stage(WRITES).await;
    let asked = Asked::default();
    let claude = stage
        .claude()
        .permissions(asked.always(Decision::deny("not here")));
    let session = claude.connect().await.unwrap();
    let mut scene = Scene {
        stage,
        session,
        asked,
    };
    scene
        .session
        .set_permission_mode(PermissionMode::Plan)
        .await
        .unwrap();
    let (init, _) = turn(&mut scene.session, "Hello").await;
    assert_eq!(init["permissionMode"], "plan");
    let mut verdicts = Verdicts::new().pass("modes/before the first turn");
    for (mode, feature, fate) in [
        (PermissionMode::Default, "modes/default", ASKED),
        (PermissionMode::AcceptEdits, "modes/acceptEdits", RAN),
        (PermissionMode::Plan, "modes/plan", ASKED),
        (PermissionMode::DontAsk, "modes/dontAsk", DENIED),
    ] {
        let word = mode.as_str().to_owned();
        let taken = scene.session.set_permission_mode(mode).await.unwrap();
        assert_eq!(
            taken == ModeTaken::Announced,
            cli.is_newest(),
            "{word}: {taken:?}"
        );
        assert_eq!(scene.write("inside").await, (word, fate));
        verdicts = verdicts.pass(feature);
    }
    let unknown = scene.session.set_permission_mode("banana".into()).await;
    let code = refusal(&cli, unknown, "permission mode banana");
    assert_eq!(
        code,
        cli.is_newest().then_some(ControlErrorCode::InvalidMode)
    );
    assert_eq!(scene.mode().await, "dontAsk");
    verdicts
        .pass("modes/unknown mode")
        .say("modes/auto", auto(&cli, &mut scene).await)
        .say(
            "modes/bypass without the flag",
            bypass_unasked(&cli, &mut scene).await,
        )
}

async fn auto(cli: &Cli, scene: &mut Scene) -> Verdict {
    let taken = scene
        .session
        .set_permission_mode(PermissionMode::Auto)
        .await;
    if cli.is_newest() {
        assert_eq!(taken.unwrap(), ModeTaken::Announced);
        let (init, _) = turn(&mut scene.session, "Go on").await;
        assert_eq!(init["permissionMode"], "auto");
        return Pass;
    }
    refusal(cli, taken, "permission mode auto");
    // The CLI itself takes the word and does nothing of it: asked by the bare request it shows it and asks as ever.
    let body = serde_json::json!({"mode": "auto"});
    let reply = scene
        .session
        .control("set_permission_mode", &body.into())
        .await;
    assert!(reply.is_ok(), "{reply:?}");
    assert_eq!(scene.write("inside").await, ("auto".into(), ASKED));
    NotInVersion("the word is accepted and changes nothing; the client refuses it".into())
}

async fn bypass_unasked(cli: &Cli, scene: &mut Scene) -> Verdict {
    let taken = scene
        .session
        .set_permission_mode(PermissionMode::BypassPermissions)
        .await;
    if cli.is_newest() {
        let code = refusal(cli, taken, "");
        assert_eq!(code, Some(ControlErrorCode::BypassNotLaunched));
        assert_eq!(scene.mode().await, "auto");
        return Pass;
    }
    taken.unwrap();
    assert_eq!(
        scene.write("outside").await,
        ("bypassPermissions".into(), RAN)
    );
    Pass
}

/// The CLI refused, with a code; or the client did, for this version.
fn refusal(cli: &Cli, taken: Result<ModeTaken>, what: &str) -> Option<ControlErrorCode> {
    match taken {
        Err(Error::Refused { code, .. }) if cli.is_newest() => code,
        Err(Error::Unsupported {
            what: said,
            version,
        }) if !cli.is_newest() => {
            assert_eq!((said.as_str(), version.as_str()), (what, cli.version()));
            None
        }
        other => panic!("{other:?}"),
    }
}

async fn at_launch(cli: Cli) -> Verdicts {
    let stage = cli.stage(WRITES).await;
    let asked = Asked::default();
    let claude = stage
        .claude()
        .permissions(asked.always(Decision::deny("not here")))
        .permission_mode(PermissionMode::Plan)
        .allow_dangerously_skip_permissions(true)
        .env("IS_SANDBOX", "1");
    let mut session = claude.connect().await.unwrap();
    let (init, _) = turn(&mut session, "Hello").await;
    assert_eq!(init["permissionMode"], "plan");
    session
        .set_permission_mode(PermissionMode::BypassPermissions)
        .await
        .unwrap();
    let mut scene = Scene {
        stage,
        session,
        asked,
    };
    assert_eq!(
        scene.write("outside").await,
        ("bypassPermissions".into(), RAN)
    );
    Verdicts::new()
        .pass("modes/at launch")
        .pass("modes/bypassPermissions")
}
