//! Drives one Claude Code agent: a `claude` CLI whose stdio this process has taken over.
//!
//! Two ways in. [`query`] runs one prompt; [`Claude::connect`] opens a [`Session`] that lives as long as you hold it,
//! split into a [`Handle`] to speak, [`Events`] to listen and [`session::Questions`] to answer.
//!
//! ```no_run
//! # async fn example() -> countersign_client::Result<()> {
//! use countersign_client::{Claude, Decision, PermissionRequest};
//!
//! let text = countersign_client::query("What does this project do?").text().await?;
//!
//! let session = Claude::new()
//!     .permissions(|call: PermissionRequest| async move {
//!         match call.tool_name.as_str() {
//!             "Read" => Decision::allow(),
//!             other => Decision::deny(format!("{other} may not run here.")),
//!         }
//!     })
//!     .connect()
//!     .await?;
//! let result = session.send("Which licence is it under?").await?.await?.ok()?;
//! println!("{}", result.text());
//! session.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! `examples/` has a dozen programs to copy from, one idea each.
//!
//! # The protocol, in the order of its messages
//!
//! One JSON object a line in both directions. What the CLI prints comes as [`Event::Message`]: a [`Frame`] that knows
//! its kind and ids and decodes its body when asked to. What was measured to differ between versions is said with the
//! version; the types of every message are in [`wire`].
//!
//! **Start and flags.** The CLI is started with `--input-format stream-json --output-format stream-json --verbose` (it
//! refuses to run without the last) and with what the options mean. `--permission-prompt-tool stdio` is passed whenever
//! somebody here answers permission questions; without it the CLI denies what it would ask. It prints nothing until it
//! is given something to do. [`Claude`] and [`Options`] build this, [`Handle::warnings`] tells which options make no
//! sense together.
//!
//! **`initialize`.** Our first line, always. It registers hooks and in-process servers, and the reply brings commands,
//! models and account: [`Handle::initialize_reply`]. It starts no turn. If servers of this process are mounted, the CLI
//! greets them now and holds the first turn back until they have answered; [`mcp`] does so.
//!
//! **`user`.** A [`Prompt`]: text, images, documents, blocks. [`Handle::send`] gives each a uuid, because results
//! cannot be paired with messages by counting: a message that comes while a tool runs is taken into the running turn,
//! and one result answers both; one that comes later waits and has a turn of its own. A uuid that was used before does
//! not run again ([`Error::Duplicate`]).
//!
//! **`system/init`.** Marks the beginning of a turn, every turn: "this is how things stand". Model, mode, tools and the
//! session's id may have changed since the last. [`Handle::session_id`], [`Handle::model`] and
//! [`Handle::permission_mode`] follow it.
//!
//! **`assistant`, `stream_event`.** One `assistant` line for each content block, several with the same message id; the
//! token counts in them are not final. Pieces of a block come before it as `stream_event`, only with
//! [`Claude::include_partial_messages`]. Newer CLIs run tools while the message still streams, so questions and tool
//! results may come in between. Lines of a sub-agent carry [`Frame::parent_tool_use_id`].
//!
//! **`control_request` `can_use_tool`.** May this call run? Asked only where rules and mode do not decide, one at a
//! time for what changes something, all at once for what reads and for sub-agents, even after the result. There is no
//! time limit. A [`PermissionHandler`] or a [`PermissionQuestion`] answers with a [`Decision`]. An allow always carries
//! the whole input: older versions run the call with nothing, or refuse it, if it is missing. Plans and questions to
//! the person come this way, too: [`PermissionRequest::subject`].
//!
//! **`control_request` `hook_callback`, `mcp_message`, `elicitation`.** The rest of what the CLI asks. Before a call is
//! asked about its [`hook`]s are; an MCP server of this process is spoken to by wrapped JSON-RPC; a server's question
//! to the person comes as an [`ElicitationQuestion`]. Each request gets an answer, unknown ones an error: silence hangs
//! the CLI.
//!
//! **`user` again: tool results.** What a tool gave back, as the model sees it and in the tool's own structure. A
//! denial is a result as well, with the message of the [`Decision`], and does not end the turn unless it was
//! [`Decision::deny_and_stop`].
//!
//! **`result`.** The end of a turn, not of the run. It succeeded if the subtype is `success` *and* it is not marked as
//! an error: a model that cannot be reached is `success` with an error. [`Turn`] waits for the one that answers its
//! message, [`TurnResult::ok`] tells the cases apart. The cost in it is that of the whole session.
//!
//! **Turns that start by themselves.** When work in the background ends, the CLI tells the model and prints another
//! `init … result` that nobody asked for (2.1.62 and later). Nobody's [`Turn`] ends by it. [`Handle::idle`] waits until
//! nothing goes on; [`Query::finish`] does that before it ends the agent.
//!
//! **Control requests of ours.** At any time, also while the model speaks: [`Handle::set_model`],
//! [`Handle::set_permission_mode`], [`Handle::mcp_status`] and so on; [`Handle::call`] for any other typed one,
//! [`Handle::control`] for the rest. Versions up to 2.1.30 do not answer what they do not know, and answer some
//! requests twice: each has a timer, and the first reply counts.
//!
//! **`control_cancel_request`.** The CLI takes a question of its own back, because of an interrupt or because somebody
//! else answered. The future of the handler is dropped; who holds a question learns by [`Interest::withdrawn`], and an
//! answer gives [`Withdrawn`]. In the other direction it cancels a request of ours; it does not answer a question of
//! the CLI.
//!
//! **`interrupt`.** Ends the turn, not the agent: open questions are withdrawn, running commands are killed, then comes
//! a result with [`TurnResult::is_interrupted`]. Without a running turn nothing comes. Messages that wait start at
//! once; [`Handle::interrupt_all`] drops them.
//!
//! **End of stdin, exit.** An idle CLI ends when stdin closes; a busy one finishes its turn first, and can no longer
//! ask: calls that need an answer are refused, but up to 2.1.197 hooks are passed over, and what they would have
//! refused may *run*. So [`Handle::close`] interrupts, waits for the result, closes stdin, sends SIGTERM, then SIGKILL,
//! each after a grace ([`Graces`]); then it ends what the agent left running, which lives in sessions of its own.
//! [`Event::Closed`] is the last event.
//!
//! # What happens when …
//!
//! - **nobody reads the events?** Nothing waits for you: answers, turns and control requests go on. Beyond
//!   [`Bounds::queue_bytes`] the oldest lines are given up and [`Event::Lagged`] says how many. Questions have a lane
//!   of their own.
//! - **a handler panics, or a question is dropped?** The call is denied, with a message that says so. A hook that fails
//!   refuses where its event can refuse.
//! - **a handler never answers?** Only its call waits. Others are answered meanwhile.
//! - **the CLI dies?** Every waiting call and turn fails at once with [`Error::Closed`]: exit code or signal, and the
//!   end of stderr with secrets masked. Before the greeting it is [`Error::Handshake`].
//! - **a line is broken, unknown or huge?** It is an event ([`Kind::Malformed`], [`Kind::Other`], [`Event::TooLong`])
//!   and the session goes on.
//! - **the last handle, turn and stream are dropped?** The agent is ended as by [`Handle::close`], in the background.
//! - **a future is dropped half-way?** Nothing is lost or sent twice: waiting is cancel-safe, and a [`Turn`] that is
//!   dropped goes on unwatched. A dropped [`Run`] ends its agent.
//! - **the runtime ends, or this process is killed?** The agent is killed with everything that came from it when the
//!   runtime is dropped; on Linux the agent itself also if this process dies without a chance to do so.
//! - **the CLI is older or newer?** What a version can take is looked up ([`options::Capabilities`]), and kept to: what
//!   it would die of is not written, what it lacks is [`Error::Unsupported`], and what it would drop in silence is a
//!   [`Notice`].

#![warn(missing_docs)]

mod agent;
#[cfg(feature = "blocking")]
pub mod blocking;
mod claude;
mod closed;
mod control;
mod error;
mod handlers;
pub mod history;
pub mod hook;
mod input;
pub mod kept;
mod launch;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod options;
mod peer;
mod permission;
mod prepare;
mod query;
mod record;
pub mod session;
mod supervise;
mod tap;
mod transport;
mod turn;

pub use agent::{Graces, LineMask, SpawnError, names_a_secret, secrets_in};
pub use claude::{Bounds, Claude};
pub use closed::{Closed, EndedBy};
pub use control::{InterruptReceipt, ModeTaken};
pub use countersign_wire as wire;
pub use error::{Error, Result};
pub use handlers::{DialogHandler, ElicitationHandler};
pub use hook::{Hook, HookContext, HookError, HookHandler};
pub use input::Prompt;
pub use options::Options;
pub use peer::audience::{Event, Events};
pub use peer::batch::{Frame, Kind};
pub use peer::notice::Notice;
pub use peer::question::{DialogQuestion, ElicitationQuestion, OtherQuestion, Question};
pub use peer::responder::{Interest, Responder, Withdrawn};
pub use permission::{
    AllowAll, AllowTools, Decision, DenyAll, FormError, PermissionHandler, PermissionQuestion,
    PermissionRequest, Plan, QuestionForm, Rule, RuleError, Subject, Update,
};
pub use prepare::Prepared;
pub use query::{Outcome, Query, Run, query};
pub use record::{RecordError, Recorder};
pub use session::{Handle, Questions, Session};
pub use transport::Peer;
pub use turn::{Turn, TurnFailure, TurnResult, TurnStream};
pub use wire::Json;
pub use wire::vocab::PermissionMode;
