//! The link of one session to one in-process server.
//!
//! Owns which connection a message belongs to. Does not own the control lane: [`Bridge::handle`] takes the message of one
//! `mcp_message` request and gives back what to reply, [`Outgoing`] takes what the server says of its own accord.
//! Invariant: `handle` always answers, whatever the message and whatever the server does.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use countersign_wire::control::SdkMcpManifest;
use countersign_wire::{Extra, Json};
use rmcp::model::RequestId;
use serde_json::{Value, json};

use super::connection::{Connection, Opening};
use super::guard;
use super::message::{self, Incoming, acknowledged, gone};
use super::mount::Mount;

/// Where the server's own messages go: notifications, and requests such as `elicitation/create`. The host sends each as
/// `mcp_message`.
///
/// Called in the order of the messages, from the server's task: it must not block and should not panic.
pub trait Outgoing: Send + Sync + 'static {
    /// Takes one JSON-RPC message.
    fn send(&self, message: Json);
}

impl<F: Fn(Json) + Send + Sync + 'static> Outgoing for F {
    fn send(&self, message: Json) {
        self(message);
    }
}

/// Why [`Bridge::handshake`] has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the server `{server}` answered `{method}` with an error: {reason}; leave it out of the manifests, so that the CLI \
     asks it and reports the failure"
)]
pub struct HandshakeError {
    /// The server.
    pub server: String,
    /// What it was asked.
    pub method: &'static str,
    /// What it said.
    pub reason: String,
}

/// One session's link to an in-process server. Its tasks end when it is dropped.
pub struct Bridge {
    mount: Mount,
    outgoing: Arc<dyn Outgoing>,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    opened: u32,
    current: Option<Arc<Connection>>,
    /// Replaced by a later `initialize`, and alive as long as requests on them wait for an answer.
    older: Vec<Weak<Connection>>,
}

impl Connections {
    fn alive(&self) -> impl Iterator<Item = Arc<Connection>> {
        let older = self.older.iter().filter_map(Weak::upgrade);
        self.current.iter().cloned().chain(older)
    }
}

impl Bridge {
    /// Links a session to a server. An instance of the server is made when the CLI connects.
    pub fn new(mount: &Mount, outgoing: Arc<dyn Outgoing>) -> Self {
        Self {
            mount: mount.clone(),
            outgoing,
            connections: Mutex::default(),
        }
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        self.mount.name()
    }

    /// Takes the `message` of an `mcp_message` request and gives the `mcp_response` for its reply.
    ///
    /// A request is answered by the server; anything else at once, as the CLI waits for a reply to those too. Any number
    /// may run at once. Dropping the future cancels the request. Must be polled inside a tokio runtime.
    pub async fn handle(&self, message: Json) -> Json {
        match message::read(&message) {
            Incoming::Initialize(id, request) => match self.connect(Opening::Handshake) {
                Ok(connection) => connection.request(id, request).await,
                Err(panic) => self.not_made(id, &panic),
            },
            Incoming::Request(id, request) => match self.current_or_new() {
                Ok(connection) => connection.request(id, request).await,
                Err(panic) => self.not_made(id, &panic),
            },
            Incoming::Cancelled(cancel) => {
                let alive: Vec<_> = self.connections().alive().collect();
                let _ = alive.iter().any(|connection| connection.cancel(&cancel));
                acknowledged()
            }
            Incoming::Notification(notification) => {
                let current = self.connections().current.clone();
                if let Some(connection) = current {
                    connection.notify(notification);
                }
                acknowledged()
            }
            Incoming::Answer(number, answer) => {
                let asker = self
                    .connections()
                    .alive()
                    .find(|connection| message::is_connection(connection.number(), number));
                if let Some(connection) = asker {
                    connection.answer(answer).await;
                }
                acknowledged()
            }
            Incoming::Broken(answer) => answer,
        }
    }

    /// Connects to the server as the CLI would, and gives its answers for `initialize.sdkMcpServerManifests`. The CLI then
    /// need not ask, and the connection is ready for its calls. Takes as long as the server does: set a limit.
    ///
    /// # Errors
    /// When the server answers with an error.
    pub async fn handshake(&self) -> Result<SdkMcpManifest, HandshakeError> {
        let initialize_result = self
            .ask(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "claude-code", "version": "unknown"},
                }),
            )
            .await?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.handle(Json::from(initialized)).await;
        let tools = self.ask("tools/list", json!({})).await?;
        // A list of many pages does not fit the manifest; the CLI asks for it itself.
        let whole = tools.get("nextCursor").is_none_or(Value::is_null);
        Ok(SdkMcpManifest {
            initialize_result: Json::from(initialize_result),
            tools_list_result: whole.then(|| Json::from(tools)),
            extra: Extra::default(),
        })
    }

    async fn ask(&self, method: &'static str, params: Value) -> Result<Value, HandshakeError> {
        // Of another kind than the CLI's ids, which are numbers.
        let id = format!("handshake:{method}");
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let failed = |reason: String| HandshakeError {
            server: self.name().to_owned(),
            method,
            reason,
        };
        let answer = self.handle(Json::from(request)).await;
        let mut answer = answer
            .to_value()
            .map_err(|error| failed(error.to_string()))?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(failed(answer["error"]["message"].to_string())),
        }
    }

    /// A new connection, which takes the place of the current one. Requests on that one still get their answers.
    fn connect(&self, opening: Opening) -> Result<Arc<Connection>, String> {
        let instance = catch_unwind(AssertUnwindSafe(|| self.mount.make())).map_err(guard::said)?;
        let mut connections = self.connections();
        if opening == Opening::Assumed
            && let Some(current) = &connections.current
        {
            // Another request was faster.
            return Ok(current.clone());
        }
        let number = connections.opened;
        connections.opened = connections.opened.wrapping_add(1);
        let opened = Connection::open(instance, number, opening, self.outgoing.clone());
        let opened = Arc::new(opened);
        connections.older.retain(|older| older.strong_count() > 0);
        if let Some(replaced) = connections.current.replace(opened.clone()) {
            connections.older.push(Arc::downgrade(&replaced));
        }
        Ok(opened)
    }

    fn current_or_new(&self) -> Result<Arc<Connection>, String> {
        let current = self.connections().current.clone();
        match current {
            Some(connection) => Ok(connection),
            None => self.connect(Opening::Assumed),
        }
    }

    fn not_made(&self, id: RequestId, panic: &str) -> Json {
        let name = self.name();
        gone(
            id,
            format!("the server `{name}` could not be made: {panic}"),
        )
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        // Nothing panics while it is held.
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("mount", &self.mount)
            .finish_non_exhaustive()
    }
}
