//! What cases on questions, hooks and endings look at: the turns they run, the tool results the model was sent, processes.
//!
//! Owns the shape of the simple script (one call a turn, then a word) and the ways to see an effect. Knows no feature.

use std::path::Path;

use countersign_client::{
    Claude, EndedBy, Handle, PermissionQuestion, Question, Session, Turn, TurnResult,
    session::Questions,
};
use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::stage::{Stage, soon, until};

/// A script: for each of `calls` one turn that makes this call and then says "Done."
pub(crate) fn turns<'a>(calls: impl IntoIterator<Item = &'a str>) -> String {
    let turn = |call: &str| format!("reply\n  tool {call}\nreply\n  say \"Done.\"\n");
    calls.into_iter().map(turn).collect()
}

/// A call of Bash that notes in `ran.txt` that it ran. It names no path, so that a rule for it is enough on all versions.
pub(crate) fn noting(word: &str) -> String {
    format!(
        r#"Bash {{"command":"{}","description":"note"}}"#,
        noted(word).replace('"', "\\\"")
    )
}

/// Its command.
pub(crate) fn noted(word: &str) -> String {
    format!("sh -c \"echo {word} >> ran.txt\"")
}

impl Stage {
    /// How often the command of [`noting`] ran.
    pub(crate) fn ran(&self, word: &str) -> usize {
        let ran = self.read("ran.txt").unwrap_or_default();
        ran.lines().filter(|line| *line == word).count()
    }

    /// The last tool result that the model was sent.
    pub(crate) fn last_result(&self) -> ToolResult {
        let mut results = tool_results(&self.last_asked());
        results.pop().expect("the model was sent a tool result")
    }

    /// A client that hands all questions over as values.
    pub(crate) async fn asking(&self) -> Session {
        self.claude().questions().connect().await.unwrap()
    }
}

/// What a tool gave back, as the model was told.
#[derive(Debug, Clone)]
pub(crate) struct ToolResult {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) content: Value,
}

/// All tool results in a request to the model, oldest first.
pub(crate) fn tool_results(request: &Value) -> Vec<ToolResult> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results
        .map(|block| ToolResult {
            text: text_of(&block["content"]),
            is_error: block["is_error"] == true,
            content: block["content"].clone(),
        })
        .collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Runs a turn to its result. For sessions whose questions a callback answers, or that have none.
pub(crate) async fn run(handle: &Handle, prompt: &str) -> TurnResult {
    let turn = handle.send(prompt).await.unwrap();
    ended(turn).await
}

/// The result of a turn.
pub(crate) async fn ended(turn: Turn) -> TurnResult {
    soon("the result", turn).await.unwrap()
}

/// The next permission question.
pub(crate) async fn question(questions: &mut Questions) -> PermissionQuestion {
    match soon("a question", questions.next()).await {
        Some(Question::Permission(question)) => question,
        other => panic!("no permission question: {other:?}"),
    }
}

/// Runs a turn and gives each of its questions to `answer`. How many there were comes back with the result.
pub(crate) async fn answering(
    session: &mut Session,
    mut answer: impl FnMut(PermissionQuestion),
) -> (TurnResult, usize) {
    let mut turn = session.handle.send("Go on.").await.unwrap();
    let mut count = 0;
    let running = async {
        loop {
            tokio::select! {
                biased;
                asked = session.questions.next() => match asked {
                    Some(Question::Permission(question)) => {
                        count += 1;
                        answer(question);
                    }
                    other => panic!("no permission question: {other:?}"),
                },
                result = turn.result() => return result.unwrap(),
            }
        }
    };
    let result = soon("the result", running).await;
    (result, count)
}

/// Runs a turn in which every question is allowed. How many there were.
pub(crate) async fn allowing(session: &mut Session) -> usize {
    let (result, count) = answering(session, |question| question.allow().unwrap()).await;
    assert!(result.is_success(), "{result:?}");
    count
}

/// A call of Bash that writes its process number into the file `name` and stays.
pub(crate) fn staying(name: &str) -> String {
    format!(r#"Bash {{"command":"echo $$ > {name}; exec sleep 1000","description":"stay"}}"#)
}

/// The process that a command wrote into a file, once it is there and runs.
pub(crate) async fn pid_in(path: &Path) -> u32 {
    let read = || -> Option<u32> {
        let text = std::fs::read_to_string(path).ok()?;
        text.ends_with('\n').then(|| text.trim().parse().ok())?
    };
    until("a process number", || read().is_some()).await;
    let pid = read().unwrap();
    assert!(is_alive(pid), "process {pid} runs");
    pid
}

/// Whether a process runs; one that only waits to be reaped does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let number = Pid::from_raw(pid as i32).unwrap();
    if test_kill_process(number).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat
        .rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

/// Waits until a process is gone.
pub(crate) async fn gone(what: &str, pid: u32) {
    until(what, || !is_alive(pid)).await;
}

/// Starts a session.
pub(crate) async fn connect(claude: Claude) -> Session {
    soon("the greeting", claude.connect()).await.unwrap()
}

/// Ends the session and waits for it. 2.1.325 ends with exit code 1 if its last turn was interrupted.
pub(crate) async fn close(session: Session) {
    let closed = soon("the end", session.close()).await;
    assert_eq!(closed.ended_by, Some(EndedBy::Eof), "{closed}");
}
