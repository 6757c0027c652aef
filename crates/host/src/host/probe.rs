//! What agents can be asked, and what is known while none is there.
//!
//! Owns the implementation of [`Probe`]. Invariant: whoever asks waits no longer than a deadline, and the actor not at all.

use std::time::Duration;

use countersign_client::wire::Num;
use countersign_client::wire::control::{GetContextUsageReply, McpServerStatus};
use countersign_client::{Error as ClientError, Handle};
use futures_core::future::BoxFuture;
use tokio::sync::oneshot;

use super::Host;
use crate::control::{
    ContextPart, ContextView, ControlError, Files, McpServer, Named, Probe, Result, SessionId,
    TaskOutput, TaskView,
};
use crate::live::{Asking, Context, Order};
use crate::shelf;
use crate::store::{sessions, told};

/// For an agent to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many of the newest entries are looked through for tasks.
const ENTRIES: usize = 500;

fn nobody() -> ControlError {
    ControlError::not_now("no agent is there: resume the session first")
}

fn unanswered() -> ControlError {
    ControlError::Unavailable {
        why: "the agent does not answer".to_owned(),
        retry_ms: 1_000,
    }
}

impl Probe for Host {
    fn models(&self) -> BoxFuture<'_, Result<Named>> {
        Box::pin(async move {
            let store = &self.inner.store;
            Ok(store.read(|it| told::newest(it, told::MODELS)).await?)
        })
    }

    fn commands(&self, id: SessionId) -> BoxFuture<'_, Result<Named>> {
        Box::pin(async move {
            let named = self.inner.store.read(move |it| {
                sessions::get(it, id)?;
                told::of_session(it, id, told::COMMANDS)
            });
            Ok(named.await?)
        })
    }

    fn context(&self, id: SessionId) -> BoxFuture<'_, Result<ContextView>> {
        Box::pin(async move {
            let row = self.inner.store.read(move |it| sessions::get(it, id));
            let row = row.await?;
            let asked = self.ask(id, |handle| async move { handle.context_usage(None).await });
            Ok(match asked.await {
                Ok(reply) => full(&reply),
                // What its answers told is known whatever it can say now.
                Err(_) => Context::view_in(&row.core),
            })
        })
    }

    fn mcp(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<McpServer>>> {
        Box::pin(async move {
            let servers = self.ask(id, |handle| async move { handle.mcp_status().await });
            Ok(servers.await?.into_iter().map(server).collect())
        })
    }

    fn tasks(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<TaskView>>> {
        Box::pin(async move {
            let row = self.inner.store.read(move |it| sessions::get(it, id));
            let row = row.await?;
            let page = self.transcript_page(id, None, ENTRIES).await?;
            Ok(shelf::tasks(&page.items, &row.core, row.live))
        })
    }

    fn task_output(&self, id: SessionId, task: String) -> BoxFuture<'_, Result<TaskOutput>> {
        Box::pin(async move {
            let ask = |handle: Handle| async move { handle.task_output(&task).await };
            let reply = self.ask(id, ask).await?;
            Ok(TaskOutput {
                output: reply.output,
                total_bytes: count(reply.total_bytes),
                is_cut: reply.truncated,
            })
        })
    }

    fn files(&self, id: SessionId, letters: String, most: usize) -> BoxFuture<'_, Result<Files>> {
        Box::pin(async move {
            let row = self.inner.store.read(move |it| sessions::get(it, id));
            let cwd = row.await?.cwd;
            let ours = self.inner.folders.root().to_owned();
            let look = move || shelf::files(&cwd, &ours, &letters, most);
            let found = tokio::task::spawn_blocking(look);
            found.await.map_err(|error| ControlError::Unknown {
                why: error.to_string(),
            })
        })
    }
}

impl Host {
    /// Asks the agent of a session.
    async fn ask<T, F>(
        &self,
        id: SessionId,
        ask: impl FnOnce(Handle) -> F + Send + 'static,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ClientError>> + Send,
    {
        let row = self.inner.store.read(move |it| sessions::get(it, id));
        if !row.await?.live {
            return Err(nobody());
        }
        let (reply, told) = oneshot::channel();
        let asking = Asking::new(move |handle| {
            Box::pin(async move {
                let told = match handle {
                    None => Err(nobody()),
                    Some(handle) => match tokio::time::timeout(PATIENCE, ask(handle)).await {
                        Ok(told) => told.map_err(|error| refused(&error)),
                        Err(_) => Err(unanswered()),
                    },
                };
                let _ = reply.send(told);
            })
        });
        let mailbox = self.inner.mailbox(id);
        let sent = mailbox.send(Order::Ask(asking)).await;
        sent.map_err(|_| unanswered())?;
        drop(mailbox);
        told.await.map_err(|_| unanswered())?
    }
}

fn refused(error: &ClientError) -> ControlError {
    match error.is_timeout() {
        true => unanswered(),
        false => ControlError::not_now(error.to_string()),
    }
}

/// A count that the CLI wrote as any number.
fn count(number: Num) -> u64 {
    number.as_u64()
}

fn full(reply: &GetContextUsageReply) -> ContextView {
    let parts = reply.categories.iter().map(|share| ContextPart {
        name: share.name.clone(),
        tokens: count(share.tokens),
    });
    ContextView {
        is_live: true,
        percent: Some(count(reply.percentage).min(100) as u8),
        used: Some(count(reply.total_tokens)),
        window: Some(count(reply.max_tokens)),
        model: Some(reply.model.clone()),
        parts: parts.collect(),
    }
}

/// What may be shown of a server: not how it is configured, which holds secrets.
fn server(status: McpServerStatus) -> McpServer {
    let tools = status.tools.unwrap_or_default();
    McpServer {
        name: status.name,
        status: status.status.as_str().to_owned(),
        error: status.error,
        server: status
            .server_info
            .map(|info| format!("{} {}", info.name, info.version)),
        transport: status.transport,
        host: status.url_host,
        scope: status.scope,
        tools: tools.into_iter().map(|tool| tool.name).collect(),
    }
}
