//! What does not work says so, with the next step and an exit code of its own.

use serde_json::Value;

use super::stage::Stage;

#[test]
fn without_a_daemon_every_command_says_how_to_start_one() {
    let stage = Stage::alone();
    for words in [
        &["sessions"][..],
        &["show", "abcdef"],
        &["logs", "abcdef"],
        &["inbox"],
        &["approve", "-y", "abcdef"],
        &["deny", "abcdef"],
        &["answer", "abcdef", "x"],
        &["plan", "abcdef", "--manual", "-y"],
        &["send", "abcdef", "x"],
        &["start", "x"],
        &["stop", "abcdef"],
        &["interrupt", "abcdef"],
        &["resume", "abcdef"],
        &["fork", "abcdef"],
        &["mode", "abcdef", "ask"],
        &["model", "abcdef", "opus"],
        &["rm", "abcdef"],
        &["token", "list"],
    ] {
        let ran = stage.run(words);
        assert_eq!(ran.code, Some(4), "{words:?} {ran:?}");
        assert!(ran.err.contains("countersign serve"), "{words:?} {ran:?}");
        assert_eq!(ran.out, "", "{words:?}");
    }
}

#[test]
fn an_error_for_a_program_is_json_on_stderr() {
    let stage = Stage::alone();
    let ran = stage.run(&["sessions", "--json"]);
    let problem: Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!((ran.code, &problem["code"]), (Some(4), &"no_server".into()));
}

#[test]
fn an_address_that_is_none_and_one_where_nobody_listens_are_told_apart() {
    let stage = Stage::alone();
    let ran = stage.run(&["sessions", "--server", "127.0.0.1:1"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = stage.run(&["sessions", "--server", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let ran = stage.run(&["sessions", "--server", "http://127.0.0.1:1", "--data", "x"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_server_without_a_token_lets_nobody_in() {
    let stage = Stage::playing("turn always\n  stream \"Hello.\"\n");
    let ran = stage.run(&["sessions", "--server", stage.url()]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    assert!(ran.err.contains("--token-file"), "{}", ran.err);
}

#[test]
fn what_is_no_countersign_is_said_to_be_none() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
            .unwrap();
    });
    let stage = Stage::alone();
    let ran = stage.run(&["sessions", "--server", &address]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.err.contains("is this a Countersign server"),
        "{}",
        ran.err
    );
    serving.join().unwrap();
}
