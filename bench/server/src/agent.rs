//! The agent that is measured with: a CLI that does what a message tells it, and knows when it did.
//!
//! Owns its side of the wire: it answers `initialize` and every other control request, streams lines that carry the time, and
//! asks for approval of calls. How long each answer took it writes into a file, so that nothing of the measurement goes
//! through what is measured.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::line::{LENGTH, Line};
use crate::samples::Samples;
use crate::usage;

/// The version it claims to be: the newest that the host knows.
const VERSION: &str = "2.1.325 (Claude Code)";

/// How much goes out in one `write` where it does not matter when: what a pipe holds.
const AT_ONCE: usize = 64 << 10;

/// What an agent can be told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// So many lines at once.
    Flood { lines: u64 },
    /// So many lines, one after the other, with a pause before each.
    Paced { lines: u64, pause: Duration },
    /// So many calls of Bash, with a pause before each, and a file for how long the answers took.
    Ask {
        calls: u64,
        pause: Duration,
        command: String,
        file: PathBuf,
    },
    /// Nothing.
    Rest,
}

impl Order {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Flood { lines } => format!("flood {lines}"),
            Self::Paced { lines, pause } => format!("paced {lines} {}", pause.as_micros()),
            Self::Ask {
                calls,
                pause,
                command,
                file,
            } => format!(
                "ask {calls} {} {command} {}",
                pause.as_micros(),
                file.display()
            ),
            Self::Rest => "rest".to_owned(),
        }
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let micros = |word: &str| anyhow::Ok(Duration::from_micros(word.parse()?));
        Ok(match words[..] {
            ["flood", lines] => Self::Flood {
                lines: lines.parse()?,
            },
            ["paced", lines, pause] => Self::Paced {
                lines: lines.parse()?,
                pause: micros(pause)?,
            },
            ["ask", calls, pause, command, file] => Self::Ask {
                calls: calls.parse()?,
                pause: micros(pause)?,
                command: command.to_owned(),
                file: file.into(),
            },
            ["rest"] => Self::Rest,
            _ => bail!("{text:?} is no order"),
        })
    }
}

/// Runs until stdin is closed. `args` are those of the CLI.
pub(crate) fn main(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--version") {
        return Ok(writeln!(std::io::stdout(), "{VERSION}")?);
    }
    let named = |flag: &str| {
        let mut values = args.iter().filter_map(|arg| arg.strip_prefix(flag));
        values.find_map(|value| value.strip_prefix('=').map(str::to_owned))
    };
    let session = named("--session-id").or_else(|| named("--resume"));
    let session = session.unwrap_or_else(|| "00000000-0000-4000-8000-000000000000".to_owned());
    Agent {
        stdin: BufReader::new(std::io::stdin().lock()),
        // Without the buffer of the standard library, which would cut the batches anew.
        stdout: std::io::stdout().as_fd().try_clone_to_owned()?.into(),
        session,
        calls: 0,
        orders: Vec::new(),
    }
    .run()
}

struct Agent<'a> {
    stdin: BufReader<std::io::StdinLock<'a>>,
    stdout: std::fs::File,
    session: String,
    /// Calls so far: each has a name of its own.
    calls: u64,
    /// Messages that came while something else was done.
    orders: Vec<String>,
}

impl Agent<'_> {
    fn run(mut self) -> anyhow::Result<()> {
        loop {
            while self.orders.is_empty() {
                if self.hear()?.is_none() {
                    return Ok(());
                }
            }
            let order = self.orders.remove(0);
            self.turn(&order)?;
        }
    }

    /// Takes one line, and answers what can be answered at once. None at the end.
    fn hear(&mut self) -> anyhow::Result<Option<Value>> {
        let mut text = String::new();
        if self.stdin.read_line(&mut text)? == 0 {
            return Ok(None);
        }
        let line: Value = serde_json::from_str(&text).context("a line that is none")?;
        match line["type"].as_str() {
            Some("control_request") => {
                let response = match line["request"]["subtype"].as_str() {
                    Some("initialize") => json!({
                        "commands": [], "agents": [], "models": [], "account": {},
                        "output_style": "default", "available_output_styles": ["default"],
                    }),
                    _ => json!({}),
                };
                let answer = json!({"type": "control_response", "response": {
                    "subtype": "success", "request_id": line["request_id"], "response": response,
                }});
                self.say(&answer)?;
            }
            Some("user") => {
                // Said again, as the CLI does: that is how the host knows that it was read.
                let again = json!({"type": "user", "message": line["message"], "uuid": line["uuid"],
                    "session_id": self.session, "parent_tool_use_id": null, "isReplay": true});
                self.say(&again)?;
                self.orders.extend(said(&line["message"]["content"]));
            }
            _ => {}
        }
        Ok(Some(line))
    }

    fn say(&mut self, line: &Value) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.stdout.write_all(&text)?;
        Ok(())
    }

    fn turn(&mut self, order: &str) -> anyhow::Result<()> {
        let session = self.session.clone();
        let cwd = std::env::current_dir()?;
        self.say(&json!({"type": "system", "subtype": "init", "session_id": session, "uuid": session,
            "cwd": cwd, "tools": ["Bash"], "mcp_servers": [], "model": "claude-bench", "permissionMode": "default",
            "slash_commands": [], "skills": [], "plugins": [], "apiKeySource": "none", "output_style": "default",
            "claude_code_version": VERSION.split(' ').next()}))?;
        match Order::read(order)? {
            Order::Flood { lines } => flood(&mut self.stdout, &session, lines)?,
            Order::Paced { lines, pause } => paced(&mut self.stdout, &session, lines, pause)?,
            Order::Ask {
                calls,
                pause,
                command,
                file,
            } => {
                let mut samples = Samples::default();
                for _ in 0..calls {
                    samples.push(self.ask(&command, pause)?);
                }
                std::fs::write(file, serde_json::to_vec(&samples)?)?;
            }
            Order::Rest => {}
        }
        self.say(&json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done.",
            "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0.01, "stop_reason": "end_turn",
            "modelUsage": {}, "permission_denials": [],
            "usage": {"input_tokens": 1, "output_tokens": 1}, "session_id": session, "uuid": session}))
    }

    /// A call as the CLI makes one: the model's message, the question, what came of it. How long the answer took.
    fn ask(&mut self, command: &str, pause: Duration) -> anyhow::Result<u64> {
        self.calls += 1;
        let (call, name) = (
            format!("toolu_{}", self.calls),
            format!("ask-{}", self.calls),
        );
        let input = json!({"command": format!("./{command} {}", self.calls), "description": "Leave a mark"});
        let about =
            json!({"session_id": self.session, "parent_tool_use_id": null, "uuid": self.session});
        let mut made = json!({"type": "assistant", "message": {"id": format!("msg_{}", self.calls), "type": "message",
            "role": "assistant", "model": "claude-bench", "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": input}]}});
        let mut came = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "content": "done"}]}});
        for line in [&mut made, &mut came] {
            if let (Some(line), Some(about)) = (line.as_object_mut(), about.as_object()) {
                line.extend(about.clone());
            }
        }
        self.say(&made)?;
        // Long enough for everybody to have gone to sleep again.
        std::thread::sleep(pause);
        let question = json!({"type": "control_request", "request_id": name, "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": input, "tool_use_id": call,
            "permission_suggestions": []}});
        let began = usage::now();
        self.say(&question)?;
        loop {
            let Some(line) = self.hear()? else {
                bail!("nobody answered");
            };
            if line["type"] == "control_response" && line["response"]["request_id"] == name.as_str()
            {
                let took = usage::now() - began;
                let behaviour = &line["response"]["response"]["behavior"];
                anyhow::ensure!(behaviour == "allow", "not allowed: {line}");
                self.say(&came)?;
                return Ok(took);
            }
        }
    }
}

/// The text of a message.
fn said(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.as_str(),
        blocks => blocks
            .as_array()?
            .iter()
            .find_map(|block| block["text"].as_str())?,
    };
    Some(text.to_owned())
}

/// Lines as fast as they are taken.
pub(crate) fn flood(
    out: &mut impl std::io::Write,
    session: &str,
    lines: u64,
) -> anyhow::Result<()> {
    let mut line = Line::new(session);
    let together = (AT_ONCE / LENGTH).max(1) as u64;
    let mut batch = Vec::with_capacity(AT_ONCE);
    let mut left = lines;
    while left > 0 {
        let count = left.min(together);
        batch.clear();
        for _ in 0..count {
            batch.extend_from_slice(line.now());
        }
        out.write_all(&batch)?;
        left -= count;
    }
    Ok(())
}

/// One line after the other.
pub(crate) fn paced(
    out: &mut impl std::io::Write,
    session: &str,
    lines: u64,
    pause: Duration,
) -> anyhow::Result<()> {
    let mut line = Line::new(session);
    for _ in 0..lines {
        std::thread::sleep(pause);
        out.write_all(line.now())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_given() {
        let pause = Duration::from_micros(400);
        let orders = [
            Order::Flood { lines: 3 },
            Order::Paced { lines: 3, pause },
            Order::Ask {
                calls: 2,
                pause,
                command: "mark".to_owned(),
                file: "/a/b".into(),
            },
            Order::Rest,
        ];
        for order in orders {
            assert_eq!(Order::read(&order.text()).unwrap(), order);
        }
        assert!(Order::read("dance 1 2 3").is_err());
    }

    #[test]
    fn a_message_is_text_or_blocks() {
        assert_eq!(said(&json!("rest")).as_deref(), Some("rest"));
        let blocks = json!([{"type": "text", "text": "rest"}]);
        assert_eq!(said(&blocks).as_deref(), Some("rest"));
        assert_eq!(said(&json!([])), None);
    }
}
