//! What the agents of the suite do, as scenarios of the scripted CLI and as scripts of the model behind the real one.
//!
//! Owns the texts. Every tool is a command that leaves a mark in `ran.log` of the project folder, named after the
//! message, so that how often it ran can be counted.

/// A turn with much to read around one question. Everything after a resume is "go on" or a turn of its own.
pub(crate) const ONE_QUESTION: &str = r#"
turn always when "go on"
  say "I go on."
turn always
  flood 40 80
  think "Shall I?"
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  flood 40 80
  say "Done: ${prompt}."
"#;

/// Two calls of one message, a third after them, and what is no message in between.
pub(crate) const THREE_QUESTIONS: &str = r#"
turn always when "go on"
  say "I go on."
turn always
  flood 25 120
  together
    tool Bash {"command":"echo ${prompt}-a >> ran.log","description":"Leave a mark"}
    tool Bash {"command":"echo ${prompt}-b >> ran.log","description":"Leave another"}
  end
  stderr "between the questions"
  noise "a line that is no JSON"
  big 100K
  tool Bash {"command":"echo ${prompt}-c >> ran.log","description":"Leave a third"}
  say "Done: ${prompt}."
"#;

/// Five questions, all open at the same time.
pub(crate) const FIVE_QUESTIONS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt}-1 >> ran.log","description":"One"} nowait
  tool Bash {"command":"echo ${prompt}-2 >> ran.log","description":"Two"} nowait
  tool Bash {"command":"echo ${prompt}-3 >> ran.log","description":"Three"} nowait
  tool Bash {"command":"echo ${prompt}-4 >> ran.log","description":"Four"} nowait
  tool Bash {"command":"echo ${prompt}-5 >> ran.log","description":"Five"} nowait
  wait answers 5
  say "Done: ${prompt}."
"#;

/// Five questions stay open while the turn goes on talking, for a host to be replaced in the middle of it.
pub(crate) const TALKING: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt}-1 >> ran.log","description":"One"} nowait
  tool Bash {"command":"echo ${prompt}-2 >> ran.log","description":"Two"} nowait
  tool Bash {"command":"echo ${prompt}-3 >> ran.log","description":"Three"} nowait
  tool Bash {"command":"echo ${prompt}-4 >> ran.log","description":"Four"} nowait
  tool Bash {"command":"echo ${prompt}-5 >> ran.log","description":"Five"} nowait
  repeat 100
    flood 5 100
    wait 25ms
  end
  wait answers 5
  say "Done: ${prompt}."
"#;

/// Leaves processes behind that are in sessions of their own, then asks.
pub(crate) const WITH_CHILDREN: &str = r#"
turn always when "go on"
  say "I go on."
turn always
  spawn "sleep 600"
  spawn detached "sleep 600"
  flood 40 80
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  flood 40 80
  say "Done: ${prompt}."
"#;

/// Ends by nothing but force, and leaves children that do the same: one that starts others all the time, and one that has
/// left everything behind by which it could be known, but for who started it.
pub(crate) const STUBBORN: &str = r#"
ignore eof
ignore sigterm
ignore sigint
ignore sighup
default interrupt off
turn always when "go on"
  say "I go on."
turn always
  spawn detached "trap '' TERM INT HUP; while :; do sleep 600 & sleep 0.02; done"
  spawn detached "env -i setsid sh -c 'sleep 600; : ${cwd}'"
  flood 40 80
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  flood 40 80
  say "Done: ${prompt}."
"#;

/// The tool takes its time, so that it can be killed while it runs.
pub(crate) const SLOW_TOOL: &str = r#"
turn always when "go on"
  say "I go on."
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log; sleep 600","description":"Leave a mark and wait"}
  say "Done: ${prompt}."
"#;

/// Asks twice and then writes far more than a pipe or a small disk holds, without waiting for the answers.
pub(crate) const FLOOD: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt}-a >> ran.log","description":"Leave a mark"} nowait
  tool Bash {"command":"echo ${prompt}-b >> ran.log","description":"Leave another"} nowait
  wait 200ms
  flood 12000 400
  wait answers 2
  say "Done: ${prompt}."
"#;

/// A model that calls Bash once for each of so many messages, and has a word for whatever else is asked. Each call leaves
/// a process behind that is in a session of its own.
pub(crate) fn model(messages: usize) -> String {
    let mut script = String::from("reply 1000 times when \"go on\"\n  say \"I go on.\"\n");
    for index in 0..messages {
        let text = text_of(index, true);
        script += &format!(
            "reply when \"{text}\"\n  say \"I look.\"\n  tool Bash {{\"command\":\"setsid sleep 600 >/dev/null 2>&1 & echo m{index} >> ran.log\",\"description\":\"Leave a mark\"}}\n"
        );
    }
    script + "reply always\n  say \"Done.\"\n"
}

/// A model whose one message starts five sub-agents that all ask at the same time.
pub(crate) fn five_sub_agents() -> String {
    let calls = (1..=5).map(|index| {
        let input = serde_json::json!({
            "description": format!("Job {index}"), "subagent_type": "general-purpose",
            "prompt": format!("This is job {index}."), "run_in_background": false,
        });
        format!("  tool Task {input}\n")
    });
    let jobs = (1..=5).map(|index| {
        let input = serde_json::json!({"command": format!("echo m0-{index} >> ran.log"), "description": "Leave a mark"});
        format!("reply in \"This is job {index}.\"\n  tool Bash {input}\nreply always in \"This is job {index}.\"\n  say \"Done.\"\n")
    });
    let (calls, jobs) = (calls.collect::<String>(), jobs.collect::<String>());
    format!("{jobs}reply\n{calls}reply always\n  say \"All is done.\"\n")
}

/// The text of message number `index` for that model, and for the scenarios.
pub(crate) fn text_of(index: usize, is_real: bool) -> String {
    match is_real {
        true => format!("This is m{index}."),
        false => format!("m{index}"),
    }
}
