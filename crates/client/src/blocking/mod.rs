//! The same client for programs without an async runtime.
//!
//! Owns waiting versions of [`crate::query`] and [`crate::Session`]. Each runs on one thread of its own; the caller's
//! thread only waits. Inside an async runtime every call here gives [`BlockingError::InRuntime`] instead of blocking it.
//!
//! ```no_run
//! use countersign_client::{Claude, Decision, blocking};
//!
//! # fn main() -> countersign_client::Result<()> {
//! let text = blocking::query("What is 2 + 2?").text()?;
//!
//! let careful = blocking::handler(|request| match request.tool_name.as_str() {
//!     "Read" => Decision::allow(),
//!     other => Decision::deny(format!("{other} is not for you")),
//! });
//! let session = blocking::Session::connect(Claude::new().permissions(careful))?;
//! let result = session.send("What is in this folder?")?;
//! # Ok(())
//! # }
//! ```

mod engine;
mod query;
mod session;

pub use engine::BlockingError;
pub use query::{Query, Run, query};
pub use session::{Events, Handle, Questions, Session, Turn, TurnStream};

use std::sync::Arc;

use crate::permission::{BoxFuture, Decision, PermissionHandler, PermissionRequest};

/// A permission handler made from a plain closure, which may take its time: it is called on a thread of its own.
///
/// When the CLI withdraws the question the closure is not stopped; [`PermissionRequest::interest`] tells.
pub fn handler<F>(decide: F) -> impl PermissionHandler
where
    F: Fn(PermissionRequest) -> Decision + Send + Sync + 'static,
{
    Plain(Arc::new(decide))
}

struct Plain<F>(Arc<F>);

impl<F> PermissionHandler for Plain<F>
where
    F: Fn(PermissionRequest) -> Decision + Send + Sync + 'static,
{
    fn decide(&self, request: PermissionRequest) -> BoxFuture<'_, Decision> {
        let decide = Arc::clone(&self.0);
        Box::pin(async move {
            let deciding = tokio::task::spawn_blocking(move || decide(request));
            deciding.await.unwrap_or_else(|_| {
                Decision::deny("The permission handler failed, so the call was denied.")
            })
        })
    }
}
