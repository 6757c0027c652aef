//! MCP servers, in the host's process and in processes of their own: what they said of themselves, and the tools they offer.

use serde_json::{Value, json};

use super::ask::{Answer, Kind};
use super::deed::{Deed, Kind as DeedKind};
use super::{Engine, Output};
use crate::cli::scenario::{Asking, Habit};

/// All of them, in the order they were named.
#[derive(Debug, Default)]
pub(super) struct Servers {
    list: Vec<Server>,
    /// Messages to processes that are not answered: the deed and the question.
    sent: Vec<(u64, u64)>,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: String,
    next_id: u64,
    greeting: Greeting,
    info: Value,
    tools: Vec<Value>,
    pub(super) enabled: bool,
    /// How it is started, if it is a process.
    process: Option<Value>,
    /// Why it cannot be spoken to.
    error: Option<String>,
}

/// How far the greeting is, and the question it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Greeting {
    Initialize(u64),
    Initialized(u64),
    Tools(u64),
    Done,
    Failed,
}

impl Servers {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|server| server.name.as_str())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Server> {
        self.list.iter().find(|server| server.name == name)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Server> {
        self.list.iter_mut().find(|server| server.name == name)
    }

    /// How a server that is a process is started.
    pub(super) fn process(&self, name: &str) -> Option<Value> {
        self.get(name)?.process.clone()
    }

    pub(super) fn toggle(&mut self, name: &str, enabled: bool) -> bool {
        let found = self.get_mut(name);
        found.map(|server| server.enabled = enabled).is_some()
    }

    /// The next JSON-RPC id of a server; of one that is not known, 0.
    pub(super) fn next_id(&mut self, name: &str) -> u64 {
        let Some(server) = self.get_mut(name) else {
            return 0;
        };
        server.next_id += 1;
        server.next_id - 1
    }

    /// Names of tools as the model knows them.
    pub(super) fn tools(&self) -> Vec<String> {
        let mut names = Vec::new();
        for server in self.list.iter().filter(|server| server.enabled) {
            for tool in &server.tools {
                let tool = tool["name"].as_str().unwrap_or_default();
                names.push(format!("mcp__{}__{tool}", server.name));
            }
        }
        names
    }

    /// The tools as the model knows them, each with the schema of its input.
    pub(super) fn inputs(&self) -> Vec<(String, Value)> {
        let servers = self.list.iter().filter(|server| server.enabled);
        let tools = servers.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
        tools
            .map(|(server, tool)| {
                let name = tool["name"].as_str().unwrap_or_default();
                (
                    format!("mcp__{}__{name}", server.name),
                    tool["inputSchema"].clone(),
                )
            })
            .collect()
    }

    /// The server and the tool that a name such as `mcp__calc__add` stands for.
    pub(super) fn of_tool<'a>(&'a self, name: &str) -> Option<(&'a Server, &'a Value)> {
        let rest = name.strip_prefix("mcp__")?;
        self.list.iter().find_map(|server| {
            let tool = rest.strip_prefix(&*server.name)?.strip_prefix("__")?;
            let found = server.tools.iter().find(|known| known["name"] == tool)?;
            Some((server, found))
        })
    }

    pub(super) fn greeting(&self) -> bool {
        let done = |server: &Server| matches!(server.greeting, Greeting::Done | Greeting::Failed);
        !self.list.iter().all(done)
    }

    /// As `init` lists them.
    pub(super) fn listed(&self) -> Value {
        let entry = |server: &Server| json!({"name": server.name, "status": server.status(), "source": server.source()});
        self.list.iter().map(entry).collect()
    }

    /// As `mcp_status` lists them.
    pub(super) fn described(&self) -> Value {
        let entry = |server: &Server| {
            let transport = if server.process.is_some() {
                "stdio"
            } else {
                "sdk"
            };
            let mut entry = json!({
                "name": server.name, "status": server.status(),
                "transport": transport, "scope": "dynamic", "source": server.source(),
            });
            if let Some(process) = &server.process {
                let args = process.get("args").cloned();
                entry["config"] = json!({
                    "type": "stdio", "command": process["command"],
                    "args": args.unwrap_or_else(|| json!([])),
                });
            }
            if let Some(error) = &server.error {
                entry["error"] = error.clone().into();
                return entry;
            }
            if !server.info.is_null() {
                entry["serverInfo"] = server.info.clone();
            }
            entry["tools"] = (server.tools.iter())
                .map(|tool| {
                    let annotations = tool.get("annotations").cloned();
                    let annotations = annotations.unwrap_or_else(|| json!({}));
                    json!({"name": tool["name"], "annotations": annotations})
                })
                .collect();
            entry
        };
        self.list.iter().map(entry).collect()
    }
}

impl Server {
    fn source(&self) -> &'static str {
        match self.process {
            Some(_) => "dynamic",
            None => "sdk",
        }
    }

    fn status(&self) -> &'static str {
        match self.greeting {
            _ if !self.enabled => "disabled",
            Greeting::Done => "connected",
            Greeting::Failed => "failed",
            _ => "pending",
        }
    }
}

impl Engine {
    /// Greets servers that are new, those of the host by their names; the first turn waits for it.
    pub(super) fn greet_servers(&mut self, names: Vec<String>) {
        let processes = std::mem::take(&mut self.configured_processes);
        let is_kept = |server: &Server| server.process.is_some() || names.contains(&server.name);
        self.servers.list.retain(is_kept);
        let of_host = names.into_iter().map(|name| (name, None));
        let processes = processes.into_iter();
        let processes = processes.map(|(name, process)| (name, Some(process)));
        for (name, process) in of_host.chain(processes) {
            if self.servers.get(&name).is_some() {
                continue;
            }
            self.servers.list.push(Server {
                name: name.clone(),
                next_id: 0,
                greeting: Greeting::Done,
                info: Value::Null,
                tools: Vec::new(),
                enabled: true,
                process,
                error: None,
            });
            if !self.does(Habit::Mcp) {
                continue;
            }
            let mut client = json!({"name": "claude-code", "version": self.version.to_string()});
            client["title"] = "Claude Code".into();
            client["description"] = "Anthropic's agentic coding tool".into();
            client["websiteUrl"] = "https://claude.com/claude-code".into();
            let message = json!({"method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
            }});
            let serial = self.put_mcp(&name, message, &Asking::default(), Kind::Mcp);
            if let Some(server) = self.servers.get_mut(&name) {
                server.greeting = Greeting::Initialize(serial);
            }
        }
    }

    /// Goes on with greetings whose question is answered. Says whether one moved.
    pub(super) fn advance_greetings(&mut self) -> bool {
        let mut moved = false;
        for index in 0..self.servers.list.len() {
            let serial = match self.servers.list[index].greeting {
                Greeting::Initialize(serial)
                | Greeting::Initialized(serial)
                | Greeting::Tools(serial) => serial,
                Greeting::Done | Greeting::Failed => continue,
            };
            let Some(answer) = self.take_answer(serial) else {
                continue;
            };
            moved = true;
            self.greet_on(index, answer);
        }
        moved
    }

    /// Hands a message to the shell, which passes it on to the process of the server.
    pub(super) fn send_to_process(&mut self, server: &str, config: Value, message: Value) -> u64 {
        let (serial, question) = (self.next_call, self.next_question);
        self.next_call += 1;
        self.next_question += 1;
        self.servers.sent.push((serial, question));
        let deed = Deed(DeedKind::Serve {
            server: server.to_owned(),
            config,
            message,
        });
        self.out.push(Output::Do { serial, deed });
        question
    }

    /// The process of a server has answered, or cannot.
    pub(super) fn served(&mut self, serial: u64, answer: &Result<Value, String>) {
        let Some(index) = self.servers.sent.iter().position(|(of, _)| *of == serial) else {
            return;
        };
        let (_, question) = self.servers.sent.swap_remove(index);
        let envelope = match answer {
            Ok(reply) => json!({"subtype": "success", "response": {"mcp_response": reply}}),
            Err(error) => json!({"subtype": "error", "error": error}),
        };
        self.answers.push((question, Answer::Said(envelope)));
    }

    fn greet_on(&mut self, index: usize, answer: Answer) {
        let server = &mut self.servers.list[index];
        let name = server.name.clone();
        let reply = match answer {
            Answer::Said(envelope) if envelope["subtype"] == "success" => {
                envelope["response"]["mcp_response"].clone()
            }
            Answer::Said(envelope) => {
                let error = envelope["error"].as_str();
                server.error = error
                    .filter(|_| server.process.is_some())
                    .map(str::to_owned);
                json!({"error": {"message": error}})
            }
            _ => json!({"error": {"message": "no answer"}}),
        };
        let asking = Asking::default();
        match server.greeting {
            Greeting::Initialize(_) if reply.get("error").is_none() => {
                server.info = reply["result"]["serverInfo"].clone();
                let message = json!({"method": "notifications/initialized"});
                let told = self.put_mcp(&name, message, &asking, Kind::Mcp);
                self.servers.list[index].greeting = Greeting::Initialized(told);
            }
            Greeting::Initialized(_) => {
                let message = json!({"method": "tools/list"});
                let asked = self.put_mcp(&name, message, &asking, Kind::Mcp);
                self.servers.list[index].greeting = Greeting::Tools(asked);
            }
            Greeting::Tools(_) => {
                let tools = reply["result"]["tools"].as_array();
                server.tools = tools.cloned().unwrap_or_default();
                server.greeting = Greeting::Done;
            }
            _ => server.greeting = Greeting::Failed,
        }
    }
}
