//! Lines to the agent and from it: each once, in order, journalled first.

use countersign_keeper::Habits;
use countersign_keeper::Step;
use countersign_keeper::protocol::{FromKeeper, Ref, Refusal, ToKeeper};

use crate::stage::{ASKS, Stage, answer, message, until};

#[test]
fn a_question_is_answered_once() {
    let stage = Stage::new(ASKS);
    stage.start();
    stage.until_journalled(r#"a {"type":"control_request""#);
    let mut host = stage.own(1);
    let open = host.status().open;
    assert_eq!(open.len(), 1);
    assert_eq!(
        (open[0].request_id.as_str(), open[0].subtype.as_str()),
        ("q1", "can_use_tool")
    );
    host.answer("q1");
    let (reference, seq) = host.hear_ok();
    assert_eq!(reference, Ref::Answer("q1".into()));
    // A second answer, and one to a question that was never asked.
    host.answer("q1");
    assert_eq!(host.hear_refusal(), Refusal::NotOpen);
    host.answer("q2");
    assert_eq!(host.hear_refusal(), Refusal::NotOpen);
    stage.until_journalled(r#"a {"type":"heard"}"#);
    assert_eq!(stage.written("seen"), answer("q1") + "\n");
    let journal = stage.journal();
    let line = usize::try_from(seq).unwrap() - 1;
    assert_eq!(journal[line], format!("h {}", answer("q1")));
    assert_eq!(journal[line - 1], r#"d {"answer":"q1"}"#);
    assert_eq!(
        journal.iter().filter(|one| one.starts_with("h ")).count(),
        1
    );
    let standing = host.status();
    assert!(standing.open.is_empty());
    assert!(standing.synced >= seq);
}

#[cfg(target_os = "linux")]
#[test]
fn no_other_process_of_the_user_opens_a_stream_of_the_agent() {
    let stage = Stage::new(ASKS);
    stage.start();
    stage.until_journalled(r#"a {"type":"control_request""#);
    let agent = stage.own(1).status().agent.unwrap();
    // By the first it hears answers, by the second it asks and takes back.
    let opened = [0, 1, 2].map(|stream| {
        let path = format!("/proc/{}/fd/{stream}", agent.pid);
        let opened = std::fs::OpenOptions::new().write(true).open(&path);
        opened.map_err(|error| error.raw_os_error())
    });
    let refused = Some(rustix::io::Errno::NXIO.raw_os_error());
    for stream in opened {
        assert_eq!(stream.unwrap_err(), refused);
    }
}

#[test]
fn each_number_is_taken_once_and_in_order() {
    let stage = Stage::new(ASKS);
    stage.start();
    let mut host = stage.own(1);
    host.put(Ref::N(2), &message("early"));
    assert_eq!(host.hear_refusal(), Refusal::Gap);
    host.put(Ref::N(1), &message("one"));
    let (_, seq) = host.hear_ok();
    host.put(Ref::N(1), &message("again"));
    let FromKeeper::Refused {
        why, seq: first, ..
    } = host.hear()
    else {
        panic!("refused");
    };
    assert_eq!((why, first), (Refusal::Dup, Some(seq)));
    host.put(Ref::N(2), &message("two"));
    host.hear_ok();
    until("both", || stage.written("seen").lines().count() == 2);
    assert_eq!(
        stage.written("seen"),
        format!("{}\n{}\n", message("one"), message("two"))
    );
}

#[test]
fn what_would_end_the_agent_is_refused_and_takes_no_number() {
    let stage = Stage::new(ASKS);
    stage.start();
    stage.until_journalled(r#"a {"type":"control_request""#);
    let mut host = stage.own(1);
    for (line, why) in [
        ("not json", Refusal::NotJson),
        ("{\"type\":\n\"user\"}", Refusal::Newline),
        ("{\"type\":\"\u{e4}\"}", Refusal::NonAscii),
        // An answer in the clothes of a message would not be held against the open questions.
        (&*answer("q1"), Refusal::Protocol),
    ] {
        host.put(Ref::N(1), line);
        assert_eq!(host.hear_refusal(), why, "{line}");
    }
    host.put(Ref::Answer("q1".into()), &answer("q9"));
    assert_eq!(host.hear_refusal(), Refusal::Protocol);
    host.put(Ref::N(1), &message("fine"));
    host.hear_ok();
    assert!(
        !stage
            .journal()
            .iter()
            .any(|one| one.contains("not json") || one.contains("q9"))
    );
}

#[test]
fn a_question_that_is_withdrawn_is_not_open() {
    let stage = Stage::new(
        r#"echo '{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool"}}'
           echo '{"type":"control_request","request_id":"b","request":{"subtype":"hook_callback"}}'
           echo '{"type":"control_cancel_request","request_id":"a"}'
           read line"#,
    );
    stage.start();
    stage.until_journalled(r#"a {"type":"control_cancel"#);
    let mut host = stage.own(1);
    let open: Vec<String> = host
        .status()
        .open
        .into_iter()
        .map(|one| one.request_id)
        .collect();
    assert_eq!(open, ["b"]);
    host.answer("a");
    assert_eq!(host.hear_refusal(), Refusal::NotOpen);
}

#[test]
fn what_is_masked_is_written_and_not_journalled() {
    let secret = concat!("hush", "-hush");
    let stage = Stage::new(ASKS);
    stage.start();
    let mut host = stage.own(1);
    let line = message(secret) + "\n";
    let masked = message("***") + "\n";
    let note = serde_json::json!({"by": "host", "masked": ["/message/content"]});
    host.say(&ToKeeper::Put {
        reference: Ref::N(1),
        len: line.len(),
        d: note.as_object().cloned(),
        masked_len: Some(masked.len()),
        reserve: false,
    });
    use std::io::Write as _;
    host.stream
        .write_all((line.clone() + &masked).as_bytes())
        .unwrap();
    host.hear_ok();
    until("the line", || stage.written("seen") == line);
    let journal = stage.journal();
    assert!(journal.contains(&format!("h {}", message("***"))));
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with("d ") && one.contains("/message/content"))
    );
    assert!(!journal.iter().any(|one| one.contains(secret)));
}

#[test]
fn what_an_agent_does_not_read_waits_and_is_listed() {
    let stage = Stage::new("while ! [ -e go ]; do sleep 0.01; done; cat > got");
    stage.start();
    let mut host = stage.own(1);
    // More than a pipe holds, so that it cannot be written at once; then more than is kept.
    let long = message(&"x".repeat(1 << 20));
    let mut refused = false;
    for n in 1..=20 {
        host.put(Ref::N(n), &long);
        let standing = host.say_status_and_collect();
        refused |= standing.1.contains(&Refusal::Full);
        if refused {
            break;
        }
        assert_eq!(standing.0.unwritten.len() as u64, n);
    }
    assert!(refused);
    std::fs::write(stage.work("go"), "").unwrap();
    let (reference, _) = host.hear_ok();
    assert_eq!(reference, Ref::N(1));
    until("all of it", || host.status_with_oks().unwritten.is_empty());
}

#[test]
fn noise_long_lines_and_stderr_are_journalled_byte_for_byte() {
    let stage = Stage::new(
        r#"printf 'no json\n\n  \377 odd\n'; printf 'warned\n' >&2
           head -c 3000000 /dev/zero | tr '\0' y; echo; printf 'last piece'; printf 'last words' >&2"#,
    );
    stage.start();
    stage.until_journalled(r#"k {"event":"exit""#);
    let journal = stage.journal();
    let of = |kind: &str| -> Vec<&String> {
        journal.iter().filter(|one| one.starts_with(kind)).collect()
    };
    let lines = of("a ");
    assert_eq!((lines[0].as_str(), lines[1].as_str()), ("a no json", "a "));
    assert_eq!(lines[3].len(), 2 + 3_000_000);
    assert_eq!(of("A "), ["A last piece"]);
    assert_eq!(of("e "), ["e warned"]);
    assert_eq!(of("E "), ["E last words"]);
    let raw = std::fs::read(stage.session().join("journal/000001.j")).unwrap();
    assert!(memchr::memmem::find(&raw, b" a   \xff odd\n").is_some());
}

#[test]
fn a_keeper_that_is_stopped_after_the_journal_has_written_nothing_yet() {
    let habits = Habits {
        stop_at: Some(Step::Journalled),
        ..Habits::default()
    };
    let stage = Stage::with(ASKS, &habits);
    let started = stage.start();
    stage.until_journalled(r#"a {"type":"control_request""#);
    let mut host = stage.own(1);
    host.put(Ref::N(1), &message("not stopped at"));
    host.hear_ok();
    until("the message", || {
        stage.written("seen") == message("not stopped at") + "\n"
    });
    host.answer("q1");
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", started.keeper)).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    until("the stop", is_stopped);
    assert!(stage.journal().contains(&format!("h {}", answer("q1"))));
    assert_eq!(stage.written("seen"), message("not stopped at") + "\n");
    crate::stage::kill(started.keeper, rustix::process::Signal::CONT);
    host.hear_ok();
    until("the answer", || {
        stage.written("seen").ends_with(&(answer("q1") + "\n"))
    });
}

impl crate::stage::Host {
    /// The standing, and the refusals that came before it.
    fn say_status_and_collect(&mut self) -> (countersign_keeper::protocol::Standing, Vec<Refusal>) {
        self.say(&ToKeeper::Status);
        let mut refusals = Vec::new();
        loop {
            match self.hear() {
                FromKeeper::Status(standing) => return (standing, refusals),
                FromKeeper::Refused { why, .. } => refusals.push(why),
                _ => {}
            }
        }
    }

    fn status_with_oks(&mut self) -> countersign_keeper::protocol::Standing {
        self.say_status_and_collect().0
    }
}

#[test]
fn a_question_too_many_is_recorded_as_turned_away() {
    let stage = Stage::new(
        r#"seq -f '{"type":"control_request","request_id":"q%.0f","request":{"subtype":"can_use_tool"}}' 1 1030
           echo done; read line"#,
    );
    stage.start();
    stage.until_journalled("a done");
    stage.until_journalled(r#"k {"event":"refused","why":"question","pid":"#);
    let mut host = stage.own(1);
    assert_eq!(host.status().open.len(), 1024);
    host.answer("q1030");
    assert_eq!(host.hear_refusal(), Refusal::NotOpen);
    host.answer("q1");
    host.hear_ok();
}
