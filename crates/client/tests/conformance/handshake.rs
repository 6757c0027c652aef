//! The greeting: what it says, what is known after it, what a second one does.

use countersign_client::Error;
use countersign_client::wire::control::Initialize;
use countersign_client::wire::vocab::PermissionMode;

use crate::harness::{Cli, OLDEST, Verdicts};
use crate::stage::turn;

cases! {
    greeting {
        "handshake/initialize reply" => "commands, models, styles and process are typed, and agree with the first init",
        "handshake/version" => "known with the greeting on 2.1.325, with the first turn on older ones",
        "handshake/second initialize" => "answered again by 2.1.325; refused as `Already initialized` by older ones",
    }
}

async fn greeting(cli: Cli) -> Verdicts {
    let stage = cli.stage("reply\n  say \"Hello.\"\n").await;
    let mut session = stage.claude().connect().await.unwrap();
    let reply = session.initialize_reply().expect("a typed reply").clone();
    assert!(reply.models.len() > 1 && reply.models.iter().any(|model| model.value == "default"));
    assert!(reply.available_output_styles.contains(&reply.output_style));
    let pid = reply.pid.map(|pid| u32::try_from(pid.as_u64()).unwrap());
    assert_eq!(pid, session.pid().filter(|_| !cli.is(OLDEST)));
    let mode = reply.current_permission_mode;
    assert_eq!(mode, cli.is_newest().then_some(PermissionMode::Default));
    assert_eq!(session.version().is_some(), cli.is_newest());
    match session.call(Initialize::default()).await {
        Ok(again) => assert!(cli.is_newest() && again.commands == reply.commands),
        Err(Error::Refused { message, .. }) => {
            assert!(
                !cli.is_newest() && message == "Already initialized",
                "{message}"
            );
        }
        Err(other) => panic!("{other}"),
    }
    let (init, result) = turn(&mut session, "Hi").await;
    result.ok().unwrap();
    assert_eq!(session.version().unwrap().to_string(), cli.version());
    assert_eq!(init["output_style"], reply.output_style);
    let listed = init["slash_commands"].as_array().unwrap();
    for command in &reply.commands {
        assert!(
            listed.contains(&command.name.as_str().into()),
            "{}",
            command.name
        );
    }
    Verdicts::new()
        .pass("handshake/initialize reply")
        .pass("handshake/version")
        .pass("handshake/second initialize")
}
