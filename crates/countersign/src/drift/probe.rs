//! Asks a running CLI what it can do: it is started on the scripted model, introduced to, asked and given a turn.
//!
//! The shell of this module. Speaks to the CLI line by line and not through the client, so that a line which the client
//! cannot read is found all the same. Invariant: it ends within its deadline, and the CLI with it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};

use super::inventory::Inventory;
use super::report::Finding;
use super::stage::{Agent, Stage, StageError};
use crate::wire_check;

/// How long the whole probe may take.
const DEADLINE: Duration = Duration::from_secs(120);
/// How long an answer may be late once the turn is over. CLIs before 2.1 leave unknown requests unanswered.
const LATE: Duration = Duration::from_secs(4);

const ARGUMENTS: &[&str] = &[
    "--print",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
    "--permission-mode",
    "default",
];

/// One reply that asks for a tool, one that ends the turn.
const SCRIPT: &str = r#"
reply
  think "I look first."
  say "I will make a file."
  tool Bash {"command":"touch made.txt","description":"Make a file"}
reply
  say "Done."
"#;

/// Requests that change nothing and need nothing.
const REQUESTS: &[&str] = &[
    "mcp_status",
    "get_settings",
    "get_context_usage",
    "get_session_cost",
    "get_usage",
    "get_binary_version",
    "get_hooks_listing",
    "list_models",
    "list_permission_rules",
];

const MODES: &[&str] = &[
    "plan",
    "acceptEdits",
    "dontAsk",
    "bypassPermissions",
    "auto",
    "default",
];

/// Why the CLI could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error("cannot start the CLI: {0}; name another one with `--claude`")]
    Start(std::io::Error),
    #[error("cannot speak to the CLI: {0}")]
    Wire(#[from] std::io::Error),
    #[error("the CLI ended before its turn did; what it said last: {0}")]
    Ended(String),
    #[error("no end within {} s; try again on a machine with less to do", DEADLINE.as_secs())]
    TooLong,
}

/// What the running CLI said.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// As `system/init` has it; `None` where the CLI does not say.
    pub(crate) version: Option<String>,
    pub(crate) tools: BTreeSet<String>,
    /// How each mode was answered.
    modes: BTreeMap<String, String>,
    /// How each request was answered.
    requests: BTreeMap<String, String>,
    /// All lines, in both directions, as one recording.
    recording: Vec<u8>,
}

impl Probed {
    /// Returns what is not in the inventory, and what the CLI refused.
    pub(crate) fn findings(&self, inventory: &Inventory) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |what, detail, is_drift| {
            findings.push(Finding {
                what,
                detail,
                is_drift,
            })
        };
        for tool in &self.tools {
            if !inventory.surface.has_tool(tool) {
                add("unknown tool in init", tool.clone(), true);
            }
        }
        let checked = wire_check::check(self.recording.as_slice()).unwrap_or_default();
        for name in &checked.unknown {
            add("unknown message", name.clone(), true);
        }
        for (name, fields) in &checked.unknown_fields {
            let fields: Vec<_> = fields.iter().map(String::as_str).collect();
            add(
                "unknown fields",
                format!("{name}: {}", fields.join(", ")),
                true,
            );
        }
        for malformed in &checked.malformed {
            add("malformed line", malformed.reason.clone(), true);
        }
        for (mode, answer) in &self.modes {
            add("permission mode", format!("{mode}: {answer}"), false);
        }
        for (request, answer) in &self.requests {
            add("control request", format!("{request}: {answer}"), false);
        }
        findings
    }
}

/// Starts the CLI and asks it.
pub(crate) async fn probe(agent: &Agent) -> Result<Probed, ProbeError> {
    let stage = Stage::set(SCRIPT, &[]).await?;
    let mut child = stage
        .command(agent, ARGUMENTS)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(ProbeError::Start)?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ProbeError::Ended("nothing".to_owned()));
    };
    let mut conversation = Conversation {
        stdin,
        lines: BufReader::new(stdout).lines(),
        probed: Probed {
            recording: b"{\"recording\":1,\"cli\":\"probed\",\"scenario\":\"drift\"}\n".to_vec(),
            ..Probed::default()
        },
        open: BTreeMap::new(),
    };
    let asked = tokio::time::timeout(DEADLINE, conversation.hold()).await;
    let ended = asked.map_err(|_| ProbeError::TooLong).flatten();
    let Conversation { stdin, probed, .. } = conversation;
    drop(stdin);
    // Killed when dropped, if it does not end by itself.
    let _ = tokio::time::timeout(LATE, child.wait()).await;
    ended.map(|()| probed)
}

/// What an open control request was about.
#[derive(Debug, Clone)]
enum Asked {
    Initialize,
    Mode(String),
    Request(String),
}

struct Conversation {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    probed: Probed,
    open: BTreeMap<String, Asked>,
}

impl Conversation {
    /// Says everything there is to say, and reads until all of it is answered or late.
    async fn hold(&mut self) -> Result<(), ProbeError> {
        self.request(
            json!({"subtype": "initialize", "hooks": {}}),
            Asked::Initialize,
        )
        .await?;
        for mode in MODES {
            let request = json!({"subtype": "set_permission_mode", "mode": mode});
            self.request(request, Asked::Mode((*mode).to_owned()))
                .await?;
        }
        for subtype in REQUESTS {
            self.request(
                json!({"subtype": subtype}),
                Asked::Request((*subtype).to_owned()),
            )
            .await?;
        }
        let message =
            json!({"type": "user", "message": {"role": "user", "content": "Make a file"}});
        self.write(&message).await?;
        self.read_until_over().await?;
        for left in std::mem::take(&mut self.open).into_values() {
            self.answered(&left, "no answer".to_owned());
        }
        Ok(())
    }

    async fn read_until_over(&mut self) -> Result<(), ProbeError> {
        let mut has_result = false;
        let mut last = "nothing".to_owned();
        while !has_result || !self.open.is_empty() {
            let line = match has_result {
                true => match tokio::time::timeout(LATE, self.lines.next_line()).await {
                    Ok(line) => line?,
                    Err(_) => return Ok(()),
                },
                false => self.lines.next_line().await?,
            };
            let Some(line) = line else {
                return match has_result {
                    true => Ok(()),
                    false => Err(ProbeError::Ended(last)),
                };
            };
            last = line.chars().take(200).collect();
            has_result |= self.heard(&line).await?;
        }
        Ok(())
    }

    /// Takes a line of the CLI; returns whether the turn is over.
    async fn heard(&mut self, line: &str) -> Result<bool, ProbeError> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            self.record("out", line);
            return Ok(false);
        };
        self.record("out", line);
        match message["type"].as_str() {
            Some("system") if message["subtype"] == "init" => {
                let version = message["claude_code_version"].as_str();
                self.probed.version = version.map(str::to_owned);
                let tools = message["tools"].as_array().into_iter().flatten();
                self.probed.tools = tools
                    .filter_map(|tool| tool.as_str().map(str::to_owned))
                    .collect();
            }
            Some("control_response") => {
                let response = &message["response"];
                let id = response["request_id"].as_str().unwrap_or_default();
                if let Some(asked) = self.open.remove(id) {
                    let answer = match response["error"].as_str() {
                        Some(error) => {
                            format!("refused: {}", error.lines().next().unwrap_or_default())
                        }
                        None => "accepted".to_owned(),
                    };
                    self.answered(&asked, answer);
                }
            }
            Some("control_request") => {
                let answer = json!({"type": "control_response", "response": {
                    "subtype": "success",
                    "request_id": message["request_id"],
                    "response": {"behavior": "deny", "message": "Not now."},
                }});
                self.write(&answer).await?;
            }
            Some("result") => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn answered(&mut self, asked: &Asked, answer: String) {
        match asked {
            Asked::Initialize => self.probed.requests.insert("initialize".to_owned(), answer),
            Asked::Mode(mode) => self.probed.modes.insert(mode.clone(), answer),
            Asked::Request(request) => self.probed.requests.insert(request.clone(), answer),
        };
    }

    async fn request(&mut self, request: Value, asked: Asked) -> Result<(), ProbeError> {
        let id = format!("drift-{}", self.open.len() + 1);
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        self.open.insert(id, asked);
        self.write(&line).await
    }

    async fn write(&mut self, message: &Value) -> Result<(), ProbeError> {
        let line = message.to_string();
        self.record("in", &line);
        self.stdin.write_all(line.as_bytes()).await?;
        self.stdin.write_all(b"\n").await?;
        self.stdin.flush().await?;
        Ok(())
    }

    /// Keeps a line as one of a recording; what is no object stands in it as text.
    fn record(&mut self, direction: &str, line: &str) {
        let is_object = line.starts_with('{');
        let entry = match is_object {
            true => format!("{{\"at\":0,\"dir\":\"{direction}\",\"line\":{line}}}\n"),
            false => format!("{}\n", json!({"at": 0, "dir": direction, "text": line})),
        };
        self.probed.recording.extend_from_slice(entry.as_bytes());
    }
}
