//! One connection of the CLI to one instance of a server, from `initialize` on.
//!
//! Owns the rmcp task that runs the instance, the queue into it and the requests that wait for an answer. Invariants: each
//! request is answered exactly once, also when the instance dies; a request nobody waits for is cancelled in the
//! instance; the task ends when the connection is dropped.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_wire::Json;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientJsonRpcMessage,
    ErrorData, Implementation, InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::{serve_directly_with_ct, serve_server_with_ct};
use rmcp::transport::Transport;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::bridge::Outgoing;
use super::guard::Guarded;
use super::message::{self, cancelled, gone, session_id, written};
use super::mount::Instance;

/// Messages on their way into the instance.
const QUEUE: usize = 64;

/// Requests that may wait for an answer; one more is refused.
pub(super) const MAX_IN_FLIGHT: usize = 1024;

/// How the instance learns of its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// By the `initialize` request that comes next.
    Handshake,
    /// From us: the CLI has done the handshake elsewhere and will not repeat it.
    Assumed,
}

/// A connection.
pub(super) struct Connection {
    number: u32,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    calls: Arc<Calls>,
    _end: DropGuard,
}

impl Connection {
    /// Starts the instance, in a task of its own.
    pub(super) fn open(
        instance: Instance,
        number: u32,
        opening: Opening,
        outgoing: Arc<dyn Outgoing>,
    ) -> Self {
        let (inbox, receiver) = mpsc::channel(QUEUE);
        let calls = Arc::new(Calls::default());
        let ended = CancellationToken::new();
        let link = Link {
            number,
            inbox: receiver,
            calls: calls.clone(),
            outgoing,
        };
        tokio::spawn(run(instance, link, opening, ended.clone()));
        Self {
            number,
            inbox,
            calls,
            _end: ended.drop_guard(),
        }
    }

    /// Which connection of the session it is.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Passes a request on and waits for its answer. Dropping the future cancels the request.
    pub(super) async fn request(&self, id: RequestId, request: ClientJsonRpcMessage) -> Json {
        let answered = match self.calls.enter(&id) {
            Ok(answered) => answered,
            Err(refusal) => return message::error(id, refusal),
        };
        let mut waiting = Waiting {
            calls: &self.calls,
            id: Some(id.clone()),
        };
        let answer = match self.inbox.send(request).await {
            Ok(()) => answered.await.ok(),
            Err(_) => None,
        };
        waiting.id = None;
        answer.unwrap_or_else(|| gone(id, ENDED))
    }

    /// Cancels a request. Says whether it was one of this connection.
    pub(super) fn cancel(&self, cancel: &CancelledNotificationParam) -> bool {
        self.calls.withdraw(cancel.clone())
    }

    /// Passes a notification on, without waiting.
    pub(super) fn notify(&self, notification: ClientJsonRpcMessage) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.inbox.try_send(notification) {
            tracing::warn!("an MCP server does not take its messages; a notification is lost");
        }
    }

    /// Passes on the answer to a request of the instance.
    pub(super) async fn answer(&self, answer: ClientJsonRpcMessage) {
        // Fails when the instance is gone, and its question with it.
        let _ = self.inbox.send(answer).await;
    }
}

const ENDED: &str = "the server has ended; the next `initialize` starts it anew";

async fn run(instance: Instance, link: Link, opening: Opening, ended: CancellationToken) {
    let server = Guarded::new(instance, ended.clone());
    let running = match opening {
        Opening::Handshake => match serve_server_with_ct(server, link, ended).await {
            Ok(running) => running,
            Err(error) => {
                tracing::debug!(%error, "an MCP server was not initialised");
                return;
            }
        },
        Opening::Assumed => serve_directly_with_ct(server, link, Some(assumed_peer()), ended),
    };
    if let Err(error) = running.waiting().await {
        tracing::warn!(%error, "an MCP server broke down");
    }
}

/// What the CLI says of itself in `initialize`, as far as it is the same in every version.
fn assumed_peer() -> InitializeRequestParams {
    let client = Implementation::new("claude-code", "unknown");
    InitializeRequestParams::new(ClientCapabilities::default(), client)
        .with_protocol_version(ProtocolVersion::V_2025_11_25)
}

/// The requests that wait for an answer.
#[derive(Default)]
struct Calls {
    state: Mutex<State>,
    /// Rings when a request was withdrawn.
    withdrawal: Notify,
}

#[derive(Default)]
struct State {
    waiting: HashMap<RequestId, oneshot::Sender<Json>>,
    /// Withdrawn, and not yet told to the instance. Never more than were waiting at once.
    withdrawn: VecDeque<CancelledNotificationParam>,
    ended: bool,
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, id: &RequestId) -> Result<oneshot::Receiver<Json>, ErrorData> {
        let mut state = self.state();
        if state.ended {
            return Err(ErrorData::internal_error(ENDED, None));
        }
        if state.waiting.len() + state.withdrawn.len() >= MAX_IN_FLIGHT {
            let text = format!("{MAX_IN_FLIGHT} requests wait for an answer already");
            return Err(ErrorData::internal_error(text, None));
        }
        match state.waiting.entry(id.clone()) {
            Entry::Occupied(_) => {
                let text = format!("a request with the id {id} waits for an answer already");
                Err(ErrorData::invalid_request(text, None))
            }
            Entry::Vacant(place) => {
                let (sender, receiver) = oneshot::channel();
                place.insert(sender);
                Ok(receiver)
            }
        }
    }

    fn is_waiting(&self, id: &RequestId) -> bool {
        self.state().waiting.contains_key(id)
    }

    fn answer(&self, id: &RequestId, answer: Json) {
        if let Some(sender) = self.state().waiting.remove(id) {
            // Fails when it is just being dropped.
            let _ = sender.send(answer);
        }
    }

    fn withdraw(&self, cancel: CancelledNotificationParam) -> bool {
        let Some(id) = cancel.request_id.clone() else {
            return false;
        };
        let mut state = self.state();
        let Some(sender) = state.waiting.remove(&id) else {
            return false;
        };
        let _ = sender.send(cancelled(id));
        state.withdrawn.push_back(cancel);
        drop(state);
        self.withdrawal.notify_one();
        true
    }

    fn next_withdrawn(&self) -> Option<CancelledNotificationParam> {
        self.state().withdrawn.pop_front()
    }

    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.withdrawn.clear();
        // Their receivers answer for themselves.
        state.waiting.clear();
    }
}

/// Withdraws a request when its caller stops waiting.
struct Waiting<'a> {
    calls: &'a Calls,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let why = "nobody waits for the answer".to_owned();
            self.calls
                .withdraw(CancelledNotificationParam::new(Some(id), Some(why)));
        }
    }
}

/// The instance's end of the connection. When rmcp drops it, the instance is over.
struct Link {
    number: u32,
    inbox: mpsc::Receiver<ClientJsonRpcMessage>,
    calls: Arc<Calls>,
    outgoing: Arc<dyn Outgoing>,
}

impl Link {
    fn deliver(&self, mut message: ServerJsonRpcMessage) {
        match &mut message {
            JsonRpcMessage::Response(response) => {
                let id = response.id.clone();
                return self.calls.answer(&id, written(&message));
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = error.id.clone() {
                    self.calls.answer(&id, written(&message));
                }
                return;
            }
            JsonRpcMessage::Request(request) => {
                request.id = session_id(self.number, request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                {
                    let id = cancelled.params.request_id.take();
                    cancelled.params.request_id = id.map(|id| session_id(self.number, id));
                }
            }
        }
        self.outgoing.send(written(&message));
    }

    /// Whether it is a request that was withdrawn before the instance saw it.
    fn is_stale(&self, message: &ClientJsonRpcMessage) -> bool {
        matches!(message, JsonRpcMessage::Request(request) if !self.calls.is_waiting(&request.id))
    }
}

impl Transport<RoleServer> for Link {
    type Error = Infallible;

    /// Delivered before this returns, so that messages keep their order.
    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.deliver(item);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(cancel) = self.calls.next_withdrawn() {
                let cancel = CancelledNotification::new(cancel);
                return Some(JsonRpcMessage::notification(cancel.into()));
            }
            tokio::select! {
                // A withdrawal goes before a later request, which may bear the same id.
                biased;
                () = self.calls.withdrawal.notified() => {}
                message = self.inbox.recv() => match message {
                    Some(message) if self.is_stale(&message) => {}
                    message => return message,
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.calls.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ping(id: &RequestId) -> ClientJsonRpcMessage {
        let ping = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        serde_json::from_value(ping).unwrap()
    }

    fn withdrawal(id: &RequestId) -> CancelledNotificationParam {
        CancelledNotificationParam::new(Some(id.clone()), None)
    }

    #[tokio::test]
    async fn a_request_withdrawn_in_the_queue_is_never_seen_and_its_id_is_free() {
        let (inbox, receiver) = mpsc::channel(QUEUE);
        let calls = Arc::new(Calls::default());
        let mut link = Link {
            number: 0,
            inbox: receiver,
            calls: calls.clone(),
            outgoing: Arc::new(|_: Json| ()),
        };
        let (one, two) = (RequestId::Number(1), RequestId::Number(2));
        let _gone = calls.enter(&one).unwrap();
        inbox.send(ping(&one)).await.unwrap();
        assert!(calls.withdraw(withdrawal(&one)));
        assert!(
            !calls.withdraw(withdrawal(&one)),
            "it was withdrawn already"
        );
        // One that the server has, then the same id anew.
        let _gone = calls.enter(&two).unwrap();
        assert!(calls.withdraw(withdrawal(&two)));
        let _waiting = calls.enter(&two).unwrap();
        inbox.send(ping(&two)).await.unwrap();
        drop(inbox);
        let mut seen = Vec::new();
        while let Some(message) = link.receive().await {
            seen.push(match message {
                JsonRpcMessage::Request(request) => format!("request {}", request.id),
                JsonRpcMessage::Notification(_) => "withdrawal".to_owned(),
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(seen, ["withdrawal", "withdrawal", "request 2"]);
    }

    #[tokio::test]
    async fn whoever_waits_when_the_server_ends_is_let_go() {
        let calls = Calls::default();
        let waiting = calls.enter(&RequestId::Number(1)).unwrap();
        calls.end();
        assert!(waiting.await.is_err());
        assert!(calls.enter(&RequestId::Number(2)).is_err());
    }
}
