//! What the CLI asks, brought to whoever answers it.
//!
//! Owns the way from a `control_request` line to a callback, an in-process server, or the stream of questions. Callbacks
//! that wait for anything do so in tasks of their own. Invariants: every request gets an answer; a callback that panics
//! or is dropped refuses; a request nobody knows gets an error, never silence.

use std::borrow::Cow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use countersign_wire::control::{
    CanUseTool, CliRequest, DialogBehavior, Elicitation, ElicitationAction, ElicitationReply,
    HookCallback, RequestUserDialog, RequestUserDialogReply,
};
use countersign_wire::decode::decode;
use countersign_wire::permission::PermissionUpdate;
use countersign_wire::write::append_ascii;
use countersign_wire::{CliMessage, Extra, Json};
use serde::Serialize;
use tokio::runtime::RuntimeFlavor;
use tracing::Instrument as _;

use super::Shared;
use super::batch::{Batch, View};
use super::glance::RequestGlance;
#[cfg(feature = "mcp")]
use super::locked;
use super::notice::Notice;
use super::question::{DialogQuestion, ElicitationQuestion, OtherQuestion, Question};
use super::responder::{Fallback, Interest, Opened, Responder, Slot, Withdrawn};
use crate::hook::{self, HookContext};
use crate::kept::Freight;
use crate::permission::{BoxFuture, Decision, PermissionQuestion, PermissionRequest};

const NOBODY: &str = "Nobody is here to decide about this call, so it was denied.";
const HOOK_FAILED: &str = "The hook of the host failed, so the call was refused.";
const HOOK_UNREAD: &str =
    "The hook of the host could not read what it is about, so the call was refused.";
const DROPPED: &str =
    "The question about this call was given up without an answer, so it was denied.";

/// Takes a `control_request`. What is worth telling comes back.
pub(super) fn question(shared: &Arc<Shared>, view: View<'_>, position: u64) -> Option<Notice> {
    let subtype = subtype_of(view);
    let Some(id) = view.request_id() else {
        return Some(Notice::BrokenQuestion {
            subtype: subtype.into_owned(),
            reason: "it has no request_id, so it cannot be answered".to_owned(),
        });
    };
    let slot = Slot::new(&id, subtype.clone(), position, Arc::downgrade(shared));
    let slot = Arc::new(slot);
    match shared.questions.open(&slot) {
        Opened::Yes => {}
        Opened::Repeated => {
            let request_id = short(&id);
            return Some(Notice::RepeatedQuestion { request_id });
        }
        Opened::TooMany => {
            // It has no place on the list, so it is refused here and now, in the way that refuses for its kind.
            if let Ok(line) = refusal(shared, view, "too many questions are open").line(&id) {
                let refused = Freight::Answer {
                    request_id: &id,
                    note: None,
                    refuses: true,
                };
                let _ = shared.outbox.put(line, refused);
            }
            let subtype = subtype.into_owned();
            return Some(Notice::TooManyQuestions { subtype });
        }
        Opened::Over => return None,
    }
    let request = match decode::<CliMessage>(view.line()) {
        Ok(CliMessage::ControlRequest(request)) => request.request,
        other => {
            let reason = match other {
                Err(error) => error.to_string(),
                Ok(_) => "no control_request".to_owned(),
            };
            let told = format!("cannot read this request: {reason}");
            Responder::new(slot, refusal(shared, view, &told)).refuse();
            let (subtype, reason) = (short(&subtype), short(&reason));
            return Some(Notice::BrokenQuestion { subtype, reason });
        }
    };
    match request {
        CliRequest::CanUseTool(ask) => permission(shared, slot, ask, position),
        CliRequest::HookCallback(callback) => hook_callback(shared, slot, *callback),
        CliRequest::McpMessage(message) => {
            mcp_message(shared, slot, message.server_name, message.message);
        }
        CliRequest::Elicitation(ask) => elicitation(shared, slot, *ask),
        CliRequest::RequestUserDialog(ask) => dialog(shared, slot, ask),
        CliRequest::Internal(_) | CliRequest::Unknown(_) => {
            other(shared, slot, subtype.into_owned(), view);
        }
        _ => Responder::new(slot, unsupported(&subtype)).refuse(),
    }
    None
}

/// The `subtype` of a request, without a copy of the usual ones.
fn subtype_of(view: View<'_>) -> Cow<'static, str> {
    const USUAL: [&str; 5] = [
        "can_use_tool",
        "hook_callback",
        "mcp_message",
        "elicitation",
        "request_user_dialog",
    ];
    let usual = USUAL.into_iter().find(|usual| view.is_subtype(usual));
    usual.map_or_else(
        || Cow::Owned(view.subtype().unwrap_or_default().into_owned()),
        Cow::Borrowed,
    )
}

/// A question that was open before this host came: told with the reply to `initialize`.
pub(crate) fn reopen(shared: &Arc<Shared>, message: &CliMessage) {
    let Ok(line) = countersign_wire::write::to_ascii(message) else {
        return;
    };
    let length = line.len();
    let batch = Batch::new(line.into(), 0);
    let place = batch.route(0, length);
    if let Some(notice) = question(shared, batch.at(&place), 0) {
        shared.notice(notice);
    }
}

fn unsupported(subtype: &str) -> Fallback {
    Fallback::Error(format!("Unsupported control request subtype: {subtype}"))
}

/// What refuses a request that is not passed on. An error is not enough for a hook: the CLI goes on as if there was
/// none.
fn refusal(shared: &Shared, view: View<'_>, reason: &str) -> Fallback {
    match view.subtype().as_deref() {
        Some("can_use_tool") => Fallback::Deny("The question could not be put to anybody."),
        Some("hook_callback") => match view.glance().and_then(|ask| broken_hook(shared, &ask)) {
            Some(event) => hook_refusal(&event, HOOK_UNREAD, reason.to_owned()),
            None => Fallback::Error(reason.to_owned()),
        },
        _ => Fallback::Error(reason.to_owned()),
    }
}

/// Enough of a text to tell it by: what the CLI sends may be long, and notices wait for listeners.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The event of a `hook_callback` whose input cannot be read.
fn broken_hook(shared: &Shared, ask: &RequestGlance) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Callback {
        callback_id: String,
    }
    let callback: Callback = ask.request.to().ok()?;
    let hook = shared.handlers.hook(&callback.callback_id)?;
    Some(hook.event().to_owned())
}

/// What a hook that failed answers: a refusal where the event can refuse a call, an error elsewhere.
fn hook_refusal(event: &str, refused: &str, error: String) -> Fallback {
    match hook::refusal(event, refused) {
        Some(output) => fallback_of(&output),
        None => Fallback::Error(error),
    }
}

fn fallback_of(reply: &impl Serialize) -> Fallback {
    Json::of(reply).map_or(Fallback::Error("no answer".to_owned()), Fallback::Reply)
}

/// Puts a question on the stream. Where nobody reads it, dropping it refuses.
fn pass_on(shared: &Shared, question: Question) {
    if shared.handlers.takes_questions {
        shared.lane.push(question);
    }
}

/// Runs a callback in a task of its own, until it answers or the CLI no longer wants it to. One that panics refuses.
///
/// On a runtime of one thread its first step is made here: one that blocks holds up everybody there in any case, and
/// most answer at once, which is cheaper without a task.
fn run(
    shared: &Shared,
    slot: &Arc<Slot>,
    fallback: Fallback,
    callback: impl Future<Output = ()> + Send + 'static,
) {
    let mut callback = Callback {
        running: Box::pin(callback),
        slot: Arc::clone(slot),
        fallback: Some(fallback),
    };
    if shared.runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
        let mut context = Context::from_waker(Waker::noop());
        if Pin::new(&mut callback).poll(&mut context).is_ready() {
            return;
        }
    }
    let interest = Interest::new(Arc::clone(slot));
    let withdrawn = async move { interest.withdrawn().await };
    shared.runtime.spawn(async move {
        tokio::select! {
            biased;
            () = callback => {}
            () = withdrawn => {}
        }
    });
}

/// A callback that is being asked.
struct Callback {
    running: Pin<Box<dyn Future<Output = ()> + Send>>,
    slot: Arc<Slot>,
    fallback: Option<Fallback>,
}

impl Future for Callback {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let step = AssertUnwindSafe(|| self.running.as_mut().poll(context));
        catch_unwind(step).unwrap_or_else(|_| {
            // Said in so many words: what it held was dropped, which leaves a question of a kept agent open.
            if let Some(fallback) = self.fallback.take() {
                Responder::new(Arc::clone(&self.slot), fallback).refuse();
            }
            Poll::Ready(())
        })
    }
}

fn permission(shared: &Arc<Shared>, slot: Arc<Slot>, ask: Box<CanUseTool>, position: u64) {
    let request = PermissionRequest::new(ask, Interest::new(Arc::clone(&slot)), position);
    let Some(handler) = shared.handlers.permission.clone() else {
        let message = match shared.handlers.takes_questions {
            true => DROPPED,
            false => NOBODY,
        };
        let responder = Responder::new(slot, Fallback::Deny(message));
        let question = PermissionQuestion::new(request, responder);
        return pass_on(shared, Question::Permission(question));
    };
    let fallback = Fallback::Deny(DROPPED);
    let responder = Responder::new(Arc::clone(&slot), fallback.clone());
    let span = tracing::debug_span!(
        "permission",
        tool = request.tool_name,
        tool_use_id = request.tool_use_id.as_ref().map(|id| id.as_str())
    );
    let deciding = async move {
        let decision = handler.decide(request.clone()).await;
        tracing::debug!(allowed = decision.is_allow(), "decided");
        let _ = settle(&request, responder, decision);
    };
    run(shared, &slot, fallback, deciding.instrument(span));
}

/// Gives a decision as the answer, in the form this version takes.
pub(crate) fn settle(
    request: &PermissionRequest,
    mut responder: Responder,
    mut decision: Decision,
) -> Result<(), Withdrawn> {
    if decision.has_broken_input() {
        decision = Decision::deny("The changed input is no object, so the call was denied.");
    }
    let mut updates = decision.take_updates();
    if !updates.is_empty()
        && let Some(shared) = responder.shared()
    {
        updates = fitting(&shared, updates);
        let mode = updates.iter().find_map(|update| match update {
            PermissionUpdate::SetMode(update) => Some(update.mode.as_str().to_owned()),
            _ => None,
        });
        if let Some(mode) = mode {
            shared.known().want_mode(&mode);
        }
    }
    if !decision.is_allow() {
        responder = responder.refusing();
    }
    if updates.is_empty() && decision.is_plain_allow() {
        return responder.reply_with(|line| append_plain_allow(line, &request.input));
    }
    responder.reply(&decision.into_result(&request.input, updates))
}

/// The usual answer, an allow of what was asked, as text around the input: no copy of it, nothing to look up.
fn append_plain_allow(line: &mut Vec<u8>, input: &Json) -> serde_json::Result<()> {
    line.extend_from_slice(b"{\"behavior\":\"allow\",\"updatedInput\":");
    append_ascii(line, input)?;
    line.push(b'}');
    Ok(())
}

/// Leaves out what would make this version refuse the whole answer, and says so.
fn fitting(shared: &Shared, updates: Vec<PermissionUpdate>) -> Vec<PermissionUpdate> {
    let may_bypass = shared.config.may_bypass;
    let (usable, dropped) = shared
        .known()
        .capabilities()
        .usable_updates(updates, may_bypass);
    if !dropped.is_empty() {
        let reasons = dropped.iter().map(|dropped| dropped.reason.to_string());
        let reasons = reasons.collect();
        shared.notice(Notice::UpdatesDropped { reasons });
    }
    usable
}

fn hook_callback(shared: &Arc<Shared>, slot: Arc<Slot>, callback: HookCallback) {
    let Some(hook) = shared.handlers.hook(&callback.callback_id) else {
        let reason = format!("no callback is registered as {}", callback.callback_id);
        return Responder::new(slot, Fallback::Error(reason)).refuse();
    };
    let (event, handler) = (hook.event().to_owned(), hook.handler());
    let fallback = hook_refusal(
        &event,
        HOOK_FAILED,
        "the hook of the host failed".to_owned(),
    );
    let responder = Responder::new(Arc::clone(&slot), fallback.clone());
    let context = HookContext::new(
        &callback.input,
        callback.tool_use_id.map(|id| id.as_str().to_owned()),
        Interest::new(Arc::clone(&slot)),
    );
    run(shared, &slot, fallback, async move {
        let _ = match handler.call(callback.input, context).await {
            Ok(output) => responder.reply(&output),
            Err(error) => match hook::refusal(&event, &error.0) {
                Some(output) => responder.reply(&output),
                None => responder.error(&error.0),
            },
        };
    });
}

fn mcp_message(shared: &Arc<Shared>, slot: Arc<Slot>, server: String, message: Json) {
    let Some(answer) = answer_of_server(shared, &server, message) else {
        let reason = format!("no server `{server}` runs in this host");
        return Responder::new(slot, Fallback::Error(reason)).refuse();
    };
    let fallback = Fallback::Error("the server in the host failed".to_owned());
    let responder = Responder::new(Arc::clone(&slot), fallback.clone());
    run(shared, &slot, fallback, async move {
        let reply = countersign_wire::control::McpMessageReply {
            mcp_response: Some(answer.await),
            extra: Extra::default(),
        };
        let _ = responder.reply(&reply);
    });
}

/// What the server of that name will answer, if this host has one.
fn answer_of_server(
    shared: &Arc<Shared>,
    server: &str,
    message: Json,
) -> Option<BoxFuture<'static, Json>> {
    if let Some(answer) = shared.handlers.answering(server) {
        return Some(Box::pin(async move { answer(message) }));
    }
    #[cfg(feature = "mcp")]
    {
        let bridge = locked(&shared.bridges).get(server).cloned()?;
        Some(Box::pin(async move { bridge.handle(message).await }))
    }
    #[cfg(not(feature = "mcp"))]
    None
}

fn elicitation(shared: &Arc<Shared>, slot: Arc<Slot>, ask: Elicitation) {
    let fallback = fallback_of(&ElicitationReply {
        action: ElicitationAction::Decline,
        content: None,
        extra: Extra::default(),
    });
    let responder = Responder::new(Arc::clone(&slot), fallback.clone());
    let Some(handler) = shared.handlers.elicitation.clone() else {
        let question = ElicitationQuestion::new(ask, responder);
        return pass_on(shared, Question::Elicitation(question));
    };
    run(shared, &slot, fallback, async move {
        let reply = handler.answer(ask).await;
        let _ = responder.reply(&reply);
    });
}

fn dialog(shared: &Arc<Shared>, slot: Arc<Slot>, ask: RequestUserDialog) {
    let fallback = fallback_of(&RequestUserDialogReply {
        behavior: DialogBehavior::Cancelled,
        result: None,
        extra: Extra::default(),
    });
    let responder = Responder::new(Arc::clone(&slot), fallback.clone());
    let Some(handler) = shared.handlers.dialog.clone() else {
        return pass_on(
            shared,
            Question::Dialog(DialogQuestion::new(ask, responder)),
        );
    };
    run(shared, &slot, fallback, async move {
        let reply = handler.answer(ask).await;
        let _ = responder.reply(&reply);
    });
}

fn other(shared: &Shared, slot: Arc<Slot>, subtype: String, view: View<'_>) {
    let responder = Responder::new(slot, unsupported(&subtype));
    let body = view.glance::<RequestGlance>().map(|glance| glance.request);
    let question = OtherQuestion::new(subtype, body.unwrap_or_default(), responder);
    pass_on(shared, Question::Other(question));
}

#[cfg(feature = "mcp")]
impl Shared {
    /// Starts this session's instance of each in-process server.
    pub(super) fn start_servers(self: &Arc<Self>) {
        let mut bridges = locked(&self.bridges);
        for mount in &self.handlers.servers {
            let name = mount.name().to_owned();
            let outgoing = outgoing(Arc::downgrade(self), name.clone());
            bridges.insert(name, Arc::new(crate::mcp::Bridge::new(mount, outgoing)));
        }
    }
}

/// What a server says of its own accord goes to the CLI as `mcp_message`.
#[cfg(feature = "mcp")]
fn outgoing(shared: std::sync::Weak<Shared>, server: String) -> Arc<dyn crate::mcp::Outgoing> {
    Arc::new(move |message: Json| {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let request = countersign_wire::control::McpMessage {
            server_name: server.clone(),
            message,
            extra: Extra::default(),
        };
        // The answer says no more than that it arrived. Writing happens here, so that the order is kept.
        let number = shared
            .next_request
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = format!("{}{number}", shared.config.id_prefix);
        let request = countersign_wire::control::HostControlRequest::new(id, request);
        let _ = shared.write(&request.into());
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;
    use crate::{Claude, Event, Kind, Peer};

    const ASKED: &[u8] = br#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t1"}}
{"type":"keep_alive"}
"#;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_several_threads_a_callback_that_blocks_holds_up_no_reading() {
        let (release, held) = mpsc::channel();
        let held = Mutex::new(held);
        let (peer, far) = Peer::pair();
        let mut session = Claude::new()
            .permissions(move |_| {
                let _ = held.lock().unwrap().recv_timeout(Duration::from_secs(30));
                async { Decision::allow() }
            })
            .attach(peer);
        let mut far = BufReader::new(far);
        far.write_all(ASKED).await.unwrap();
        let event = session.events.next().await;
        assert!(matches!(event, Some(Event::Message(frame)) if frame.kind() == Kind::KeepAlive));
        release.send(()).unwrap();
        let mut answer = String::new();
        far.read_line(&mut answer).await.unwrap();
        assert!(answer.contains(r#""behavior":"allow""#), "{answer}");
    }

    #[tokio::test]
    async fn a_server_that_is_one_function_answers_its_own_messages_and_no_others() {
        let (peer, far) = Peer::pair();
        let _session = Claude::new()
            .mcp_messages("echo", |message| {
                Json::from(serde_json::json!({ "got": message }))
            })
            .attach(peer);
        let mut far = BufReader::new(far);
        for server in ["echo", "other"] {
            let asked = format!(
                "{{\"type\":\"control_request\",\"request_id\":\"{server}\",\"request\":{{\"subtype\":\"mcp_message\",\"server_name\":\"{server}\",\"message\":{{\"id\":7}}}}}}\n"
            );
            far.write_all(asked.as_bytes()).await.unwrap();
        }
        let mut answers = String::new();
        while answers.lines().count() < 2 {
            far.read_line(&mut answers).await.unwrap();
        }
        assert!(
            answers.contains(r#""mcp_response":{"got":{"id":7}}"#),
            "{answers}"
        );
        assert!(
            answers.contains("no server `other` runs in this host"),
            "{answers}"
        );
    }

    #[test]
    fn a_plain_allow_written_as_text_is_the_one_of_the_wire() {
        let input: Json = "{\"path\":\"\u{fc}\",\n\"n\":[1]}".parse().unwrap();
        let mut line = Vec::new();
        append_plain_allow(&mut line, &input).unwrap();
        assert!(line.is_ascii() && !line.contains(&b'\n'));
        let written: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let of_the_wire = Decision::allow().into_result(&input, Vec::new());
        assert_eq!(written, serde_json::to_value(of_the_wire).unwrap());
    }
}
