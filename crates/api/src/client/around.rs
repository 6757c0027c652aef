//! What lies around sessions: conversations of terminals, MCP servers, the disk.

use hyper::Method;

use super::error::ClientError;
use super::query::Target;
use super::{Client, NOTHING};
use crate::control::{DiskView, ImportFilter, Importable, McpAct, McpServer, Receipt, SessionId};

impl Client {
    /// Lists conversations that were begun in a terminal and can come under our care, newest first.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn importable(&self, filter: &ImportFilter) -> Result<Vec<Importable>, ClientError> {
        let folder = filter.folder.as_ref().map(|folder| folder.display());
        let target = Target::api("/import")
            .with("folder", folder)
            .with("programmatic", filter.programmatic.then_some(true))
            .with("most", (filter.most > 0).then_some(filter.most));
        self.get(target).await
    }

    /// Lists the MCP servers of a session's agent.
    ///
    /// # Errors
    /// When the server says no, as where no agent is there.
    pub async fn mcp(&self, id: SessionId) -> Result<Vec<McpServer>, ClientError> {
        self.get(Target::api("/sessions").part(id).part("mcp"))
            .await
    }

    /// Connects an MCP server of a session's agent again, or switches it on or off.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn act_on_mcp(
        &self,
        id: SessionId,
        server: &str,
        act: McpAct,
    ) -> Result<Receipt, ClientError> {
        let act = match act {
            McpAct::Reconnect => "reconnect",
            McpAct::Enable => "enable",
            McpAct::Disable => "disable",
        };
        let target = Target::api("/sessions").part(id).part("mcp");
        self.write(Method::POST, target.part(server).part(act), NOTHING)
            .await
    }

    /// Says what the data folder holds, in bytes.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn disk(&self) -> Result<DiskView, ClientError> {
        self.get(Target::api("/disk")).await
    }
}
