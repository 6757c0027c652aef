//! Control requests that set files back, say what was read, and lay settings over the others.

use std::time::{Duration, UNIX_EPOCH};

use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Error, Prompt, Session};
use serde_json::json;

use crate::absent::{Lacking, absent, impatient, lacking, show};
use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::stage::{Stage, turn};

cases! {
    rewind {
        "control/rewind_files" => "the old text is back and the new file is gone",
        "control/rewind_files, dry run" => "the files that would change are named, and none is changed",
        "control/seed_read_state" => "the model is told that the file changed since, and not of another one",
        "control/apply_flag_settings" => "the model of the settings is in the next request, the output style in the next init",
    }
}

const EDITS: &str = r#"
reply when "Read and write"
  tool Read {"file_path":"${cwd}/old.txt"}
reply
  tool Write {"file_path":"${cwd}/old.txt","content":"changed\n"}
reply
  tool Write {"file_path":"${cwd}/new.txt","content":"new\n"}
reply
  say "Done."
reply always
  say "Well."
"#;

const MESSAGE: &str = "5e551011-0000-4000-8000-00000000000a";

async fn rewind(cli: Cli) -> Verdicts {
    let stage = cli.stage(EDITS).await;
    stage.sandbox.write("old.txt", "as it was\n").unwrap();
    stage.sandbox.write("seeded.txt", "a word\n").unwrap();
    stage.sandbox.write("unseeded.txt", "a word\n").unwrap();
    let claude = stage.claude().file_checkpointing(true);
    let claude = claude.permission_mode(PermissionMode::AcceptEdits);
    let mut session = impatient(&cli, claude).connect().await.unwrap();
    let prompt = Prompt::from("Read and write").uuid(MESSAGE);
    turn(&mut session, prompt).await.1.ok().unwrap();
    let files = || (stage.read("old.txt"), stage.read("new.txt"));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(files(), (text("changed\n"), text("new\n")));
    let dry = session.rewind_files(MESSAGE, true).await;
    if cli.is(OLDEST) {
        assert!(matches!(dry, Err(Error::Unsupported { .. })), "{dry:?}");
    } else {
        let mut named = dry.unwrap().files_changed.unwrap();
        named.sort();
        let expected =
            ["new.txt", "old.txt"].map(|name| stage.path(name).to_string_lossy().into_owned());
        assert_eq!(named, expected);
    }
    assert_eq!(files(), (text("changed\n"), text("new\n")));
    let done = session.rewind_files(MESSAGE, false).await.unwrap();
    assert!(done.can_rewind, "{done:?}");
    assert_eq!(files(), (text("as it was\n"), None));
    let mut verdicts = Verdicts::new();
    if cli.is(OLDEST) {
        let dry = NotInVersion("it would rewind at once; the client refuses".into());
        verdicts = show(&cli, &session, vec![no_flag_settings(&session)]).await;
        verdicts = verdicts.say("control/rewind_files, dry run", dry);
    } else {
        flag_settings(&stage, &mut session).await;
    }
    let verdict = seed(&cli, &stage, &mut session).await;
    verdicts
        .say("control/seed_read_state", verdict)
        .and_the_rest_of(features::rewind())
}

fn no_flag_settings(session: &Session) -> Lacking<'_> {
    let call = session.apply_flag_settings(json!({}).into());
    lacking("control/apply_flag_settings", call)
}

const FULL_NAME: &str = "claude-sonnet-4-5-20250929";

async fn flag_settings(stage: &Stage, session: &mut Session) {
    let settings = json!({"model": FULL_NAME, "outputStyle": "Explanatory"});
    session.apply_flag_settings(settings.into()).await.unwrap();
    let (init, _) = turn(session, "Hello").await;
    assert_eq!(init["output_style"], "Explanatory");
    assert_eq!(stage.last_asked()["model"], FULL_NAME);
}

/// The model is told when a file changes that it has read; so it is for one that it was only said to have read.
async fn seed(cli: &Cli, stage: &Stage, session: &mut Session) -> Verdict {
    let path = stage.path("seeded.txt");
    if !cli.is_newest() {
        let call = session.seed_read_state(&path, 0);
        return absent(cli, session, "seed_read_state", call).await;
    }
    let mtime = std::fs::metadata(&path).unwrap().modified().unwrap();
    let millis = mtime.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let seeded = session.seed_read_state(&path, millis.try_into().unwrap());
    seeded.await.unwrap();
    for name in ["seeded.txt", "unseeded.txt"] {
        stage.sandbox.write(name, "a newer word\n").unwrap();
        let file = std::fs::File::options().write(true).open(stage.path(name));
        file.unwrap()
            .set_modified(mtime + Duration::from_secs(5))
            .unwrap();
    }
    turn(session, "Hello").await;
    let messages = stage.last_asked()["messages"].to_string();
    assert!(
        messages.contains("/seeded.txt") && !messages.contains("/unseeded.txt"),
        "{messages}"
    );
    Pass
}
