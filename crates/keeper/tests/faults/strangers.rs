//! Whoever else comes to the socket: the agent's own shell, a wrong secret, a watcher, noise. None of them gets a line in.
//!
//! Owns these tests, on the scripted CLI.

use serde_json::{Value, json};

use crate::checks::Extent;
use crate::orders::{Decide, Leave};
use crate::raw::{self, Raw};
use crate::scenes;
use crate::stage::{Stage, program};
use crate::task::Message;
use crate::wait::Dice;

/// The agent runs whatever the message says.
const OBEDIENT: &str = r#"
turn always
  tool Bash {"command":"${prompt}","description":"As told"}
  say "Done."
"#;

#[test]
fn the_agents_own_shell_is_refused_and_that_is_recorded() {
    let mut dice = Dice::of("own shell");
    let stage = Stage::scripted(OBEDIENT, &mut dice);
    // With the right secret and the highest epoch: as much as a shell could ever find out.
    let hello = raw::hello(stage.token(), u64::from(u32::MAX), "own");
    let run = stage.root().join("run");
    let text = format!(
        "echo m0 >> ran.log; for s in {}/*.s; do {} --knock $s '{hello}'; done > knock.out 2>&1",
        run.display(),
        program("witness"),
    );
    let messages = [Message {
        uuid: dice.uuid(),
        text,
    }];
    stage.finish(&messages);
    let told = std::fs::read_to_string(stage.project().join("knock.out")).unwrap();
    let told: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["type"], &told[0]["why"]),
        (&json!("refused"), &json!("peer"))
    );
    let refused = stage.journal().events("refused");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0]["why"], "peer");
    assert!(refused[0]["pid"].as_u64().is_some());
    stage.assert_kept(Extent::Whole, "after the knock");
}

#[test]
fn neither_a_wrong_secret_nor_a_watcher_nor_noise_gets_a_line_in() {
    let mut dice = Dice::of("strangers");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let messages = stage.messages(2, &mut dice);
    let mut orders = stage.orders(&messages);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut host = stage.host(&orders);
    let question = host.until("question")["id"].as_str().unwrap().to_owned();
    let before = stage.witness(1).heard;
    let socket = stage.socket();

    let (_, answer) = Raw::hello(&socket, "not the secret", 99, "own");
    assert_eq!(answer["why"], "token");
    let (mut watcher, welcome) = Raw::hello(&socket, stage.token(), 0, "watch");
    assert_eq!(welcome["type"], "welcome");
    watcher.put(
        &json!({"answer": question}),
        &raw::answer(&question, None),
        &json!({}),
    );
    assert_eq!(watcher.until("refused")["why"], "role");
    for noise in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x00\xff\n",
        b"{}\n",
        b"[]\n",
    ] {
        let mut raw = Raw::connect(&socket).unwrap();
        raw.write(noise);
        let answer = raw.next();
        assert!(answer.is_none_or(|answer| answer["type"] == "refused"));
    }
    assert_eq!(stage.witness(1).heard, before);
    let (_, status) = Raw::hello(&socket, stage.token(), 0, "watch");
    assert_eq!(
        status["open"][0]["request_id"],
        question.as_str(),
        "it is still open"
    );

    host.kill();
    stage.finish(&messages);
    stage.assert_kept(Extent::Whole, "after the strangers");
}
