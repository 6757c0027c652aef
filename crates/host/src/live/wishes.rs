//! What people want of a session, one function a wish.
//!
//! Owns the order of each: what must not be lost is stored together with its receipt, then the core is told, then the
//! agent. Invariant: the same key does nothing twice.

use countersign_client::options::Version;
use countersign_client::{Handle, PermissionMode};

use super::Actor;
use crate::control::{Cmd, Command, ControlError, Did, Mode, Receipt, Result, State, now};
use crate::desk::Desk;
use crate::money::budget;
use crate::session::Input;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, StoreError, queue, receipts, sessions};

/// The first version that says when a call has changed its mode.
const FIRST_TO_TELL_MODES: Version = Version::new(2, 1, 62);

/// The longest name of a session.
const LONGEST_NAME: usize = 200;

impl Actor {
    pub(super) async fn wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        match &command {
            Command::Decide { .. } | Command::DecideAlike { .. } => self.decide(cmd, command).await,
            Command::Start(_) | Command::Fork { .. } | Command::Import { .. } => {
                // The session is there: this is what it was made for.
                self.tell_queue().await;
                self.store_receipt(&cmd, &command, Durability::Normal, |_| Ok(Did::Done))
                    .await
            }
            Command::Send { .. }
            | Command::EditQueued { .. }
            | Command::MoveQueued { .. }
            | Command::RemoveQueued { .. } => self.queue_wish(cmd, command).await,
            Command::Rewind { .. } | Command::StopTask { .. } => {
                self.agent_wish(cmd, command).await
            }
            Command::Rename { .. }
            | Command::Archive { .. }
            | Command::Trash { .. }
            | Command::Restore { .. }
            | Command::SetMode { .. }
            | Command::SetModel { .. }
            | Command::SetEnv { .. }
            | Command::SetBudget { .. } => self.row_wish(cmd, command).await,
            _ => self.core_wish(cmd, command).await,
        }
    }

    /// Stores a receipt together with what it is for.
    async fn store_receipt(
        &self,
        cmd: &Cmd,
        command: &Command,
        how: Durability,
        deed: impl FnOnce(&Connection) -> Result<Did, StoreError> + Send + 'static,
    ) -> Result<Receipt> {
        let digest = receipts::digest(cmd, command)?;
        let (key, at) = (cmd.key.clone(), now());
        let job = move |it: &Connection| receipts::once(it, &key, &digest, at, deed);
        let receipt = self.inner.store.write(how, job).await?;
        Ok(receipt)
    }

    async fn queue_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let (by, at) = (cmd.principal.clone(), now());
        let wish = command.clone();
        if let Command::Send { message, .. } = &wish
            && message.text.trim().is_empty()
            && message.blocks.is_empty()
        {
            return Err(ControlError::invalid(
                "the message is empty: write something",
            ));
        }
        let deed = move |it: &Connection| match wish {
            Command::Send { session, message } => {
                queue::push(it, session, &message, at, &by)?;
                Ok(Did::Message {
                    message: message.id,
                })
            }
            Command::EditQueued {
                session,
                message,
                text,
            } => {
                queue::edit(it, session, message, &text)?;
                Ok(Did::Message { message })
            }
            Command::MoveQueued {
                session,
                message,
                before,
            } => {
                queue::move_before(it, session, message, before)?;
                Ok(Did::Message { message })
            }
            Command::RemoveQueued { session, message } => {
                queue::remove(it, session, message)?;
                Ok(Did::Message { message })
            }
            _ => Ok(Did::Done),
        };
        let receipt = self
            .store_receipt(&cmd, &command, Durability::Full, deed)
            .await?;
        crate::points::passed("message queued");
        self.tell_queue().await;
        Ok(receipt)
    }

    /// Wishes that only the core must hear of.
    async fn core_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let input = match &command {
            Command::SendNow { message, .. } => Input::SendNow(*message),
            Command::ReleaseQueue { .. } => Input::ReleaseQueue,
            Command::Interrupt { .. } => Input::Interrupt,
            Command::Stop { .. } => Input::Stop,
            Command::ForceEnd { .. } => Input::ForceEnd,
            Command::TryAgain { .. } => Input::TryAgain,
            Command::Resume { .. } => Input::Resume,
            _ => return Err(ControlError::invalid("this host does not know the command")),
        };
        let (session, at, by) = (self.id, now(), cmd.principal.clone());
        let message = match &command {
            Command::Resume { message, .. } => message.clone(),
            _ => None,
        };
        let deed = move |it: &Connection| {
            if let Some(message) = &message {
                queue::push_front(it, session, message, at, &by)?;
            }
            Ok(Did::Done)
        };
        let receipt = self
            .store_receipt(&cmd, &command, Durability::Full, deed)
            .await?;
        if matches!(input, Input::Resume) {
            self.step(Input::ReleaseQueue);
        }
        self.step(input);
        self.tell_queue().await;
        Ok(receipt)
    }

    /// Wishes that change what is stored of the session.
    async fn row_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let mut row = self.row.clone();
        self.change(&mut row, &command)?;
        let stored = row.clone();
        let deed = move |it: &Connection| {
            sessions::save(it, &stored)?;
            Ok(Did::Done)
        };
        let receipt = self
            .store_receipt(&cmd, &command, Durability::Full, deed)
            .await?;
        self.row = row;
        self.unsaved.changed = true;
        match command {
            Command::SetMode { mode, .. } => self.set_cli_mode(mode),
            Command::SetModel { model, .. } => self.set_model(model),
            Command::SetEnv { .. } => self.step(Input::Restart),
            Command::SetBudget { budget_usd, .. } => self.step(Input::Budget {
                spent: self.row.cost_usd,
                budget: budget_usd,
            }),
            Command::Trash { .. } => self.step(Input::Stop),
            _ => {}
        }
        Ok(receipt)
    }

    fn change(&self, row: &mut SessionRow, command: &Command) -> Result<()> {
        match command {
            Command::Rename { name, .. } => {
                let name = name.trim();
                if name.is_empty() || name.chars().count() > LONGEST_NAME {
                    return Err(ControlError::invalid("a name has 1 to 200 letters"));
                }
                row.name = name.to_owned();
            }
            Command::Archive { archived, .. } => row.archived = *archived,
            Command::Trash { .. } => {
                if self.agent.is_some() && !matches!(self.core.state(), State::Idle { .. }) {
                    return Err(ControlError::not_now(
                        "its agent is at work: stop the session first",
                    ));
                }
                row.trashed = Some(now());
            }
            Command::Restore { .. } => row.trashed = None,
            Command::SetMode { mode, .. } => {
                if let Mode::HandsOff { until } = mode {
                    self.check_hands_off(*until)?;
                }
                row.mode = *mode;
                row.setup.mode = mode.for_next_agent();
            }
            Command::SetModel { model, .. } => {
                row.setup.model.clone_from(model);
                row.model.clone_from(model);
            }
            Command::SetEnv { env, .. } => row.setup.env.clone_from(env),
            Command::SetBudget { budget_usd, .. } => {
                row.setup.budget_usd = budget::sound(*budget_usd)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Hands-off is given to the agent that is there, and for a time.
    fn check_hands_off(&self, until: u64) -> Result<()> {
        let at = now();
        if until <= at || until - at > Desk::LONGEST_HANDS_OFF.as_micros() as u64 {
            return Err(ControlError::invalid(
                "hands-off must end within a day from now",
            ));
        }
        match self.agent {
            Some(_) => Ok(()),
            None => Err(ControlError::not_now(
                "hands-off is given to an agent that runs: send a message first",
            )),
        }
    }

    /// When hands-off ends by itself.
    pub(super) fn hands_off_until(&self) -> Option<u64> {
        match self.row.mode {
            Mode::HandsOff { until } => Some(until),
            _ => None,
        }
    }

    /// Hands-off whose time is over is shown as what it is.
    pub(super) fn end_hands_off(&mut self) {
        if self.hands_off_until().is_some_and(|until| until <= now()) {
            self.row.mode = self.row.mode.for_next_agent();
            self.unsaved.changed = true;
            if let Some(desk) = &mut self.desk {
                Desk::set_mode(desk, self.row.mode, now());
            }
        }
    }

    /// The mode of the desk at once, that of the CLI by a request. It is verified by what the CLI says next.
    pub(super) fn set_cli_mode(&mut self, mode: Mode) {
        let Some(handle) = self.set_desk_mode(mode) else {
            return;
        };
        let (inner, id) = (self.inner.clone(), self.id);
        tokio::spawn(async move {
            if let Err(error) = handle.set_permission_mode(mode.of_cli()).await {
                inner.trouble(id, format!("the mode was not taken: {error}"));
            }
        });
    }

    /// The same, done when it returns.
    pub(super) async fn put_into(&mut self, mode: Mode) {
        if let Some(handle) = self.set_desk_mode(mode)
            && let Err(error) = handle.set_permission_mode(mode.of_cli()).await
        {
            let text = format!("the mode was not taken: {error}");
            self.inner.trouble(self.id, text);
        }
    }

    /// The mode of the desk. Gives the agent, if it must be told.
    fn set_desk_mode(&mut self, mode: Mode) -> Option<Handle> {
        if let Some(desk) = &mut self.desk {
            Desk::set_mode(desk, mode, now());
        }
        let agent = self.agent.as_ref()?;
        let is_planning = agent.handle.permission_mode().as_deref() == Some("plan");
        let wants_plan = mode.of_cli() == PermissionMode::Plan;
        // An older one does not say that it has entered or left plan mode.
        let tells = self.version().is_some_and(|it| it >= FIRST_TO_TELL_MODES);
        if tells && is_planning == wants_plan {
            return None;
        }
        if let Some(desk) = &mut self.desk {
            desk.planning(wants_plan);
        }
        Some(agent.handle.clone())
    }

    fn set_model(&mut self, model: Option<String>) {
        let Some(agent) = &self.agent else {
            return;
        };
        let (handle, inner, id) = (agent.handle.clone(), self.inner.clone(), self.id);
        tokio::spawn(async move {
            if let Err(error) = handle.set_model(model.as_deref()).await {
                inner.trouble(id, format!("the model was not taken: {error}"));
            }
        });
    }

    /// Wishes that the agent itself fulfils, and whose answer is the receipt.
    async fn agent_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let Some(agent) = &self.agent else {
            return Err(ControlError::not_now(
                "no agent is there: resume the session first",
            ));
        };
        let handle = agent.handle.clone();
        let refused = |error: countersign_client::Error| ControlError::not_now(error.to_string());
        let did = match &command {
            Command::StopTask { task, .. } => {
                handle.stop_task(task).await.map_err(refused)?;
                Did::Done
            }
            Command::Rewind {
                message, dry_run, ..
            } => {
                let reply = handle.rewind_files(&message.uuid(), *dry_run).await;
                let reply = reply.map_err(refused)?;
                let value = serde_json::to_value(&reply).unwrap_or_default();
                Did::Value { value }
            }
            _ => Did::Done,
        };
        self.store_receipt(&cmd, &command, Durability::Normal, move |_| Ok(did))
            .await
    }

    /// A turn ended: it is indexed, and what it cost is counted.
    pub(super) async fn turn_ended(&mut self, ok: bool) {
        self.count().await;
        self.inner.turn_ended(self.id, ok, self.row.cost_usd);
        self.turn_over().await;
    }

    /// What it has cost so far, held against its budget.
    pub(super) async fn count(&mut self) {
        let tail = self.agent.as_ref().map(super::Agent::tail);
        match crate::index::catch_up(&self.inner.store, &self.inner.folders, self.id, tail).await {
            Ok(totals) => {
                self.row.cost_usd = totals.cost_usd;
                self.unsaved.changed = true;
                let budget = self.row.setup.budget_usd;
                let spent = totals.cost_usd;
                self.step(Input::Budget { spent, budget });
            }
            Err(error) => tracing::warn!(session = %self.id, %error, "a turn cannot be counted"),
        }
    }
}
