//! What the host can ask of a running agent.
//!
//! Owns the typed calls of [`Handle`], one for each public control request. Invariants: each has a timer; when the agent
//! is gone they fail at once; a call that this version does not know says so instead of waiting.

mod look;
mod mcp;

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_wire::control::{
    CancelAsyncMessage, ControlError, ControlOutcome, ControlSuccess, HostRequest, Interrupt,
    Request, RewindFiles, RewindFilesReply, SetMaxThinkingTokens, SetModel, SetPermissionMode,
};
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
