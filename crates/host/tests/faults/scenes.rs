//! What the agents of the suite do, as scenarios of the scripted CLI and as a script of the model behind the real one.
//!
//! Owns the texts. Every tool leaves a mark in `ran.log` of the project folder, named after the message: `-a` and a
//! person allows it, `-no` and a person denies it, `-r` and it runs by the program `./echo`, which a rule allows from the
//! second time on.

/// Two calls of one message, then one that a rule decides, with much to read around them.
pub(crate) const THREE_QUESTIONS: &str = r#"
turn always when "Go on"
  say "I go on."
turn always
  flood 25 120
  together
    tool Bash {"command":"echo ${prompt}-a >> ran.log","description":"Leave a mark"}
    tool Bash {"command":"echo ${prompt}-no >> ran.log","description":"Leave another"}
  end
  stderr "between the questions"
  big 100K
  tool Bash {"command":"./echo ${prompt}-r","description":"Leave a third"}
  say "Done: ${prompt}."
"#;

/// One question, with children that are in sessions of their own.
pub(crate) const WITH_CHILDREN: &str = r#"
turn always when "Go on"
  say "I go on."
turn always
  spawn "sleep 600"
  spawn detached "sleep 600"
  flood 20 80
  tool Bash {"command":"echo ${prompt}-a >> ran.log","description":"Leave a mark"}
  tool Bash {"command":"./echo ${prompt}-r","description":"Leave another"}
  say "Done: ${prompt}."
"#;

/// The tool of the first message takes its time, so that something can die while it runs.
pub(crate) const SLOW_TOOL: &str = r#"
turn always when "Go on"
  say "I go on."
turn always when "m1"
  say "Done: ${prompt}."
turn always
  tool Bash {"command":"echo ${prompt}-a >> ran.log; sleep 600","description":"Leave a mark and wait"}
  say "Done: ${prompt}."
"#;

/// It takes its time to end, however it is asked to, and asks before it does anything.
pub(crate) const SLOW_END: &str = r#"
ignore eof
turn always when "Go on"
  say "I go on."
turn always
  tool Bash {"command":"echo ${prompt}-a >> ran.log","description":"Leave a mark"}
  wait 100ms
  tool Bash {"command":"./echo ${prompt}-r","description":"Leave another"}
  say "Done: ${prompt}."
on sigterm
  wait 500ms
  exit 143
"#;

/// The program by which marks are left that a rule allows.
pub(crate) const ECHO: &str = "#!/bin/sh\necho \"$1\" >> ran.log\n";

/// A model that calls three tools for each of so many messages.
pub(crate) fn model(messages: usize) -> String {
    let mut script = String::from("reply 1000 times when \"Go on\"\n  say \"I go on.\"\n");
    for index in 0..messages {
        let text = text_of(index, true);
        script += &format!(
            "reply when \"{text}\"\n  say \"I look.\"\n  tool Bash {{\"command\":\"echo m{index}-a >> ran.log\",\"description\":\"Leave a mark\"}}\n  tool Bash {{\"command\":\"echo m{index}-no >> ran.log\",\"description\":\"Leave another\"}}\n  tool Bash {{\"command\":\"./echo m{index}-r\",\"description\":\"Leave a third\"}}\n"
        );
    }
    script + "reply always\n  say \"Done.\"\n"
}

/// The text of message number `index` for that model, and for the scenarios.
pub(crate) fn text_of(index: usize, is_real: bool) -> String {
    match is_real {
        true => format!("This is m{index}."),
        false => format!("m{index}"),
    }
}
