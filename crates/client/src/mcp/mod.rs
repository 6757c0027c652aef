//! MCP servers inside the host's process, served to the CLI over `mcp_message`.
//!
//! Owns the definition of tools ([`Server`], [`Tool`]), the mounting of any rmcp server ([`Mount`]) and the link of one
//! session to it ([`Bridge`]). Does not own the control lane: messages come in and go out as values. Invariants: every
//! message is answered, whatever the server does; a definition serves any number of sessions; what a session started
//! ends with its [`Bridge`].
//!
//! ```
//! use countersign_client::mcp::{Mount, Server, schemars, schemars::JsonSchema};
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! struct Add {
//!     x: i64,
//!     y: i64,
//! }
//!
//! let calc = Server::new("calc").tool("add", "Adds two numbers", |add: Add| async move {
//!     add.x.checked_add(add.y).ok_or("the sum is too large".into())
//! });
//! let mount = Mount::from(calc);
//! assert_eq!(mount.name(), "calc");
//! ```
#![cfg(feature = "mcp")]

mod bridge;
mod connection;
mod context;
mod guard;
mod message;
mod mount;
mod output;
mod schema;
mod server;
#[cfg(test)]
mod tests;
mod tool;

pub use bridge::{Bridge, HandshakeError, Outgoing};
pub use context::{Elicited, ToolContext};
pub use mount::Mount;
pub use output::{Image, IntoToolOutput, Structured, ToolError};
/// The whole of what a tool gives back, for tools that need more than [`IntoToolOutput`] offers.
pub use rmcp::model::CallToolResult as ToolOutput;
/// One block of what a tool gives back: text, image, audio, resource or a link to one.
pub use rmcp::model::ContentBlock as Content;
pub use server::Server;
pub use tool::Tool;

// Whoever writes a server or an argument type needs the very versions this crate was built with.
pub use {rmcp, schemars};
