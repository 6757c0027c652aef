//! What the host can ask of a running agent.
//!
//! Owns the typed calls of [`Handle`], one for each public control request. Invariants: each has a timer; when the agent
//! is gone they fail at once; a call that this version does not know says so instead of waiting.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use countersign_wire::control::{
    ApplyFlagSettings, BackgroundTasks, BackgroundTasksReply, CancelAsyncMessage, ContextDetail,
    ControlError, ControlOutcome, ControlSuccess, FileSuggestions, FileSuggestionsReply,
    GetBinaryVersion, GetBinaryVersionReply, GetContextUsage, GetContextUsageReply,
    GetHooksListing, GetHooksListingReply, GetSessionCost, GetSettings, GetSettingsReply,
    GetTaskOutput, GetTaskOutputReply, GetUsage, GetUsageReply, HostRequest, Interrupt, ListModels,
    ListPermissionRules, ListPermissionRulesReply, McpCall, McpCallReply, McpMessage,
    McpReadResource, McpReadResourceReply, McpReconnect, McpServerStatus, McpSetServers,
    McpSetServersReply, McpStatus, McpToggle, ModelInfo, ReadFile, ReadFileReply, RegisterRepoRoot,
    RegisterRepoRootReply, ReloadOutputStyles, ReloadPlugins, ReloadPluginsReply, ReloadSkills,
    RenameSession, Request, RewindFiles, RewindFilesReply, SeedReadState, SetColor,
    SetHasSubscribers, SetMaxThinkingTokens, SetModel, SetPermissionMode, SlashCommand, StopTask,
    UpdateSettings, WritableSettings,
};
use countersign_wire::mcp::McpServerConfig;
use countersign_wire::vocab::PermissionMode;
use countersign_wire::{Extra, Json, Kept, Nullable, Num};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::options::Support;
use crate::peer::notice::Notice;
use crate::session::Handle;

/// What an interrupt did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterruptReceipt {
    /// Messages that will still run; only newer CLIs say so.
    pub still_queued: Vec<String>,
    /// Messages that were dropped.
    pub cancelled: Vec<String>,
}

/// How sure it is that a mode is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeTaken {
    /// The CLI announced it.
    Announced,
    /// The CLI accepted it and will show it at the next turn; older ones accept any word.
    Accepted,
}

/// How long the announcement of a mode is waited for, after the request was accepted.
const ANNOUNCEMENT: Duration = Duration::from_millis(500);

impl Handle {
    /// Asks by type: any request of the wire that has a typed reply.
    ///
    /// # Errors
    /// When the CLI refuses, does not answer in time, does not know the request, or is gone.
    pub async fn call<R>(&self, request: R) -> Result<R::Reply>
    where
        R: Request + Into<HostRequest>,
    {
        self.call_within(request, self.shared().config.control_timeout)
            .await
    }

    /// The same, with a time limit of its own.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn call_within<R>(&self, request: R, timeout: Duration) -> Result<R::Reply>
    where
        R: Request + Into<HostRequest>,
    {
        let success = self.ask(R::SUBTYPE, request.into(), timeout).await?;
        read_reply(R::SUBTYPE, success)
    }

    /// Asks by name: requests that have no type here, or not this one. `body` is an object; the answer comes as it is.
    ///
    /// # Errors
    /// As [`Handle::call`], and when `body` is no object.
    pub async fn control(&self, subtype: &str, body: &Json) -> Result<Json> {
        let fields: BTreeMap<String, Json> = body.to()?;
        let mut kept = Extra::default();
        for (name, value) in fields.into_iter().filter(|(name, _)| name != "subtype") {
            kept.set(&name, value);
        }
        let request = HostRequest::Unknown(Kept::new(subtype, kept));
        let timeout = self.shared().config.control_timeout;
        let success = self.ask(subtype, request, timeout).await?;
        Ok(success.response.unwrap_or_default())
    }

    async fn ask(
        &self,
        subtype: &str,
        request: HostRequest,
        timeout: Duration,
    ) -> Result<ControlSuccess> {
        let span = tracing::debug_span!("control", subtype);
        let asking = self.shared().ask(subtype, request, timeout);
        match tracing::Instrument::instrument(asking, span).await? {
            ControlOutcome::Success(success) => Ok(success),
            ControlOutcome::Error(error) => Err(refused(subtype, error)),
            other => Err(Error::Reply {
                subtype: subtype.to_owned(),
                reason: format!("{other:?}"),
            }),
        }
    }

    /// Fails before asking, if this version is known not to answer.
    fn requires(&self, subtype: &'static str) -> Result<()> {
        let known = self.shared().known();
        let capabilities = known.capabilities();
        match (capabilities.has_control(subtype), capabilities.version()) {
            (Support::No, Some(version)) => Err(Error::Unsupported {
                what: subtype.to_owned(),
                version: version.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// This version cannot do it, or is not known to be able to.
    fn lacks(&self, what: &str) -> Error {
        let version = self.shared().known().capabilities().version();
        Error::Unsupported {
            what: what.to_owned(),
            version: version.map_or_else(|| "(version unknown)".to_owned(), |v| v.to_string()),
        }
    }

    async fn call_if_known<R>(&self, request: R) -> Result<R::Reply>
    where
        R: Request + Into<HostRequest>,
    {
        self.requires(R::SUBTYPE)?;
        self.call(request).await
    }

    /// Ends the running turn; the agent stays. When nothing runs, nothing happens. Queued messages still run.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn interrupt(&self) -> Result<InterruptReceipt> {
        self.interrupt_with(Interrupt::default()).await
    }

    /// Ends the running turn and drops queued messages (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`]; an older CLI, which would run the queued messages, is not interrupted.
    pub async fn interrupt_all(&self) -> Result<InterruptReceipt> {
        if !self
            .shared()
            .known()
            .capabilities()
            .interrupt_cancels_queued()
        {
            return Err(self.lacks("an interrupt that drops queued messages"));
        }
        let request = Interrupt {
            cancel_queued: Some(true),
            ..Interrupt::default()
        };
        self.interrupt_with(request).await
    }

    async fn interrupt_with(&self, request: Interrupt) -> Result<InterruptReceipt> {
        self.shared().turns().interrupted();
        let timeout = self.shared().config.control_timeout;
        let success = self.ask("interrupt", request.into(), timeout).await?;
        // Older CLIs say only that it was done.
        let receipt: ReceiptGlance = success
            .response
            .and_then(|response| response.to().ok())
            .unwrap_or_default();
        Ok(InterruptReceipt {
            still_queued: receipt.still_queued,
            cancelled: receipt.cancelled,
        })
    }

    /// Changes the permission mode, and looks whether it took: older CLIs accept any word.
    ///
    /// # Errors
    /// As [`Handle::call`]; also when the CLI answers with another mode, or is known not to have this one.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<ModeTaken> {
        let wanted = mode.as_str().to_owned();
        self.requires_mode(&mode)?;
        let request = SetPermissionMode {
            mode,
            extra: Extra::default(),
        };
        let reply = self.call(request).await?;
        if let Some(got) = reply.mode.filter(|got| got.as_str() != wanted) {
            return Err(mode_refused(&wanted, got.as_str()));
        }
        let announces = self.shared().known().capabilities().status_on_mode_change();
        self.shared().known().want_mode(&wanted);
        if !announces {
            return Ok(ModeTaken::Accepted);
        }
        let taken = |shared: &crate::peer::Shared| shared.known().mode.as_deref() == Some(&wanted);
        match tokio::time::timeout(ANNOUNCEMENT, self.shared().until(taken)).await {
            Ok(seen) => seen.map(|()| ModeTaken::Announced),
            Err(_) => Ok(ModeTaken::Accepted),
        }
    }

    /// Fails before asking, if this version is known to accept the mode and make nothing of it.
    fn requires_mode(&self, mode: &PermissionMode) -> Result<()> {
        let known = self.shared().known();
        let capabilities = known.capabilities();
        match capabilities
            .version()
            .filter(|_| capabilities.lacks_mode(mode))
        {
            Some(version) => Err(Error::Unsupported {
                what: format!("permission mode {mode}"),
                version: version.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Changes the model; `None` resets it. A name the CLI did not list is told as [`crate::Notice::UnlistedModel`]:
    /// the CLI accepts any and fails at the next turn.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_model(&self, model: Option<&str>) -> Result<()> {
        if let Some(model) = model {
            let is_listed = {
                let known = self.shared().known();
                known.models.is_empty() || known.models.iter().any(|listed| listed == model)
            };
            if !is_listed {
                tracing::warn!(model, "the CLI does not list this model");
                let model = model.to_owned();
                self.shared().notice(Notice::UnlistedModel { model });
            }
        }
        let model = model.map_or(Nullable::Null, |model| Nullable::Value(model.to_owned()));
        let extra = Extra::default();
        self.call(SetModel { model, extra }).await.map(drop)
    }

    /// Changes how much the model may think; `None` resets it to the session's default.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u32>) -> Result<()> {
        let request = SetMaxThinkingTokens {
            max_thinking_tokens: tokens.map_or(Nullable::Null, |n| Nullable::Value(Num::from(n))),
            ..SetMaxThinkingTokens::default()
        };
        self.call(request).await.map(drop)
    }

    /// The MCP servers and their state.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>> {
        let reply = self.call(McpStatus::default()).await?;
        Ok(reply.mcp_servers)
    }

    /// Replaces the MCP servers that were added while running, and the in-process ones too: list all that should stay.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_set_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpSetServersReply> {
        let extra = Extra::default();
        self.call(McpSetServers { servers, extra }).await
    }

    /// Connects to an MCP server again.
    ///
    /// # Errors
    /// As [`Handle::call`]; "Server not found" for an unknown one.
    pub async fn mcp_reconnect(&self, server: &str) -> Result<()> {
        let request = McpReconnect {
            server_name: server.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Switches an MCP server on or off.
    ///
    /// # Errors
    /// As [`Handle::call`]; "Server not found" for an unknown one.
    pub async fn mcp_toggle(&self, server: &str, enabled: bool) -> Result<()> {
        let request = McpToggle {
            server_name: server.to_owned(),
            enabled,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Sends a message of an in-process MCP server. [`crate::mcp`] does this by itself.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_message(&self, server: &str, message: Json) -> Result<()> {
        let request = McpMessage {
            server_name: server.to_owned(),
            message,
            extra: Extra::default(),
        };
        self.call(request).await.map(drop)
    }

    /// Calls a tool of an MCP server, beside the conversation (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_call(&self, request: McpCall) -> Result<McpCallReply> {
        self.call_if_known(request).await
    }

    /// Reads a resource of an MCP server (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_read_resource(&self, server: &str, uri: &str) -> Result<McpReadResourceReply> {
        let request = McpReadResource {
            server_name: server.to_owned(),
            uri: uri.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Sets the files back to how they were when a message was sent. Needs
    /// [`crate::Options::file_checkpointing`]; with `dry_run` it only says what would change.
    ///
    /// # Errors
    /// As [`Handle::call`]. 2.0.75 knows no dry run and would do it at once: it is not asked, nor is a CLI whose
    /// version is not known yet.
    pub async fn rewind_files(&self, message: &str, dry_run: bool) -> Result<RewindFilesReply> {
        if dry_run && !self.shared().known().capabilities().rewinds_dry() {
            return Err(self.lacks("a dry run of rewind_files"));
        }
        let request = RewindFiles {
            user_message_id: message.into(),
            dry_run: dry_run.then_some(true),
            extra: Extra::default(),
        };
        let timeout = self.shared().config.control_timeout;
        let success = self
            .ask(RewindFiles::SUBTYPE, request.into(), timeout)
            .await?;
        if success.response.is_some() {
            return read_reply(RewindFiles::SUBTYPE, success);
        }
        // 2.0.75 says only that it was done.
        Ok(RewindFilesReply {
            can_rewind: true,
            error: None,
            files_changed: None,
            insertions: None,
            deletions: None,
            skipped_links: None,
            extra: Extra::default(),
        })
    }

    /// Takes back a queued message (2.1.325). False: it runs already, or is not known.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn cancel_message(&self, uuid: &str) -> Result<bool> {
        let request = CancelAsyncMessage {
            message_uuid: uuid.into(),
            extra: Extra::default(),
        };
        Ok(self.call_if_known(request).await?.cancelled)
    }

    /// How full the context is, and with what (2.1.325). Takes about a second.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn context_usage(
        &self,
        detail: Option<ContextDetail>,
    ) -> Result<GetContextUsageReply> {
        let extra = Extra::default();
        self.call_if_known(GetContextUsage { detail, extra }).await
    }

    /// The settings in force and where they come from (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn settings(&self) -> Result<GetSettingsReply> {
        self.call_if_known(GetSettings::default()).await
    }

    /// Lays settings over those of the command line; null clears a key.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn apply_flag_settings(&self, settings: Json) -> Result<()> {
        let extra = Extra::default();
        self.call_if_known(ApplyFlagSettings { settings, extra })
            .await
            .map(drop)
    }

    /// Writes to a settings file (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn update_settings(&self, source: WritableSettings, settings: Json) -> Result<()> {
        let request = UpdateSettings {
            source,
            settings,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// All hooks that are configured (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn hooks_listing(&self) -> Result<GetHooksListingReply> {
        self.call_if_known(GetHooksListing::default()).await
    }

    /// All permission rules (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn permission_rules(&self) -> Result<ListPermissionRulesReply> {
        self.call_if_known(ListPermissionRules::default()).await
    }

    /// Ends a background task.
    ///
    /// # Errors
    /// As [`Handle::call`]; 2.1.62 refuses an unknown task, newer ones do not.
    pub async fn stop_task(&self, task: &str) -> Result<()> {
        let request = StopTask {
            task_id: task.into(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await?;
        // 2.1.62 says no more about a task that was stopped.
        self.shared().known().task_stopped(task);
        self.shared().touch();
        Ok(())
    }

    /// Moves what runs in the foreground to the background: one call, or all (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn background_tasks(&self, tool_use: Option<&str>) -> Result<BackgroundTasksReply> {
        let request = BackgroundTasks {
            tool_use_id: tool_use.map(Into::into),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// What a background task has printed (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn task_output(&self, task: &str) -> Result<GetTaskOutputReply> {
        let request = GetTaskOutput {
            task_id: task.into(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Gives the session a title (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn rename_session(&self, title: &str) -> Result<()> {
        let request = RenameSession {
            title: title.to_owned(),
            source: None,
            session_id: None,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Gives the session a colour. Declared by the CLI; 2.1.325 refuses it.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_color(&self, color: &str) -> Result<()> {
        let request = SetColor {
            color: color.to_owned(),
            extra: Extra::default(),
        };
        self.call(request).await.map(drop)
    }

    /// What the session has cost, as text for people (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn session_cost(&self) -> Result<String> {
        Ok(self.call_if_known(GetSessionCost::default()).await?.text)
    }

    /// What was used, of the session and of the plan (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn usage(&self) -> Result<GetUsageReply> {
        self.call_if_known(GetUsage::default()).await
    }

    /// The models that can be chosen (2.1.325; older ones tell them in the handshake only).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn models(&self) -> Result<Vec<ModelInfo>> {
        Ok(self.call_if_known(ListModels::default()).await?.models)
    }

    /// The version of the binary (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn binary_version(&self) -> Result<GetBinaryVersionReply> {
        self.call_if_known(GetBinaryVersion::default()).await
    }

    /// Files that fit what somebody types (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn file_suggestions(&self, query: &str) -> Result<FileSuggestionsReply> {
        let request = FileSuggestions {
            query: query.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Reads a file with the agent's eyes (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn read_file(&self, path: &Path) -> Result<ReadFileReply> {
        let request = ReadFile {
            path: path.to_string_lossy().into_owned(),
            max_bytes: None,
            encoding: None,
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Says that the agent has read a file in the state of `mtime`, milliseconds since 1970 (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn seed_read_state(&self, path: &Path, mtime: u64) -> Result<()> {
        let request = SeedReadState {
            path: path.to_string_lossy().into_owned(),
            mtime: Num::from(mtime),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Makes a folder a root of the project (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn register_repo_root(
        &self,
        request: RegisterRepoRoot,
    ) -> Result<RegisterRepoRootReply> {
        self.call_if_known(request).await
    }

    /// Reads plugins again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_plugins(&self, request: ReloadPlugins) -> Result<ReloadPluginsReply> {
        self.call_if_known(request).await
    }

    /// Reads skills again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_skills(&self) -> Result<Vec<SlashCommand>> {
        Ok(self.call_if_known(ReloadSkills::default()).await?.skills)
    }

    /// Reads output styles again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_output_styles(&self) -> Result<Vec<String>> {
        let reply = self.call_if_known(ReloadOutputStyles::default()).await?;
        Ok(reply.available_output_styles)
    }

    /// Says whether anybody watches; `None` leaves it to the CLI (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_has_subscribers(&self, has_subscribers: Option<bool>) -> Result<()> {
        let request = SetHasSubscribers {
            has_subscribers: has_subscribers.map_or(Nullable::Null, Nullable::Value),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }
}

/// What newer CLIs say to an interrupt.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ReceiptGlance {
    still_queued: Vec<String>,
    cancelled: Vec<String>,
}

/// A reply without a body is an empty one: older CLIs say only that it was done.
fn read_reply<T: DeserializeOwned>(subtype: &str, success: ControlSuccess) -> Result<T> {
    let read = match success.response.filter(|response| !response.is_null()) {
        Some(response) => response.to(),
        None => serde_json::from_str("{}"),
    };
    read.map_err(|error| Error::Reply {
        subtype: subtype.to_owned(),
        reason: error.to_string(),
    })
}

fn refused(subtype: &str, error: ControlError) -> Error {
    Error::Refused {
        subtype: subtype.to_owned(),
        message: error.error.unwrap_or_else(|| "no reason given".to_owned()),
        code: error.error_code,
    }
}

fn mode_refused(wanted: &str, got: &str) -> Error {
    Error::Refused {
        subtype: "set_permission_mode".to_owned(),
        message: format!("asked for {wanted}, got {got}"),
        code: None,
    }
}
