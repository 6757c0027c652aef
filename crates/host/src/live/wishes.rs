//! What people want of a session, one function a wish.
//!
//! Owns the order of each: the core is told, what it makes of the wish is stored together with the receipt, then the agent
//! hears of it. Invariants: the same key does nothing twice; a wish with a receipt is carried out, by the next host if not
//! by this one; no wish waits for a CLI that does not answer.

use countersign_client::Handle;
use tokio::sync::oneshot;

use super::{Actor, agent};
use crate::control::{Cmd, Command, ControlError, Did, McpAct, Mode, Receipt, Result, State, now};
use crate::desk::{self, Desk};
use crate::make;
use crate::money::budget;
use crate::session::Input;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, Store, StoreError, queue, receipts};

/// The longest name of a session.
pub(crate) const LONGEST_NAME: usize = 200;

/// Why nothing wakes a session that was put away.
pub(super) const IN_TRASH: &str = "the session is in the trash: restore it first";

/// Whether an agent could begin by it. A decision is looked at more closely: the agent that it is for may be there.
fn would_wake(command: &Command) -> bool {
    matches!(
        command,
        Command::Send { .. }
            | Command::SendNow { .. }
            | Command::ReleaseQueue { .. }
            | Command::Resume { .. }
            | Command::TryAgain { .. }
    )
}

/// Where what came of a wish goes.
type Reply = oneshot::Sender<Result<Receipt>>;

impl Actor {
    /// Does what a client wants, and replies.
    pub(super) async fn wish(&mut self, cmd: Cmd, command: Command, reply: Reply) {
        let done = match self.receipt_of(&cmd, &command).await {
            Ok(None) if is_for_agent(&command) => {
                return self.agent_wish(cmd, command, reply).await;
            }
            Ok(None) => self.do_wish(cmd, command).await,
            Ok(Some(receipt)) => Ok(receipt),
            Err(error) => Err(error),
        };
        let _ = reply.send(done);
    }

    /// The receipt of a command that was sent twice and done meanwhile.
    async fn receipt_of(&self, cmd: &Cmd, command: &Command) -> Result<Option<Receipt>> {
        let (key, digest) = (cmd.key.clone(), receipts::digest(cmd, command)?);
        let found = self
            .inner
            .store
            .read(move |it| receipts::find(it, &key, &digest));
        Ok(found.await?)
    }

    async fn do_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        if self.row.trashed.is_some() && would_wake(&command) {
            return Err(ControlError::not_now(IN_TRASH));
        }
        if self.agent.is_none() && would_wake(&command) {
            make::check_descriptors(self.inner.agents_beside(Some(self.id)))?;
        }
        match &command {
            Command::Decide { .. } | Command::DecideAlike { .. } => self.decide(cmd, command).await,
            Command::Send { .. }
            | Command::EditQueued { .. }
            | Command::MoveQueued { .. }
            | Command::RemoveQueued { .. } => self.queue_wish(cmd, command).await,
            Command::Rename { .. }
            | Command::Archive { .. }
            | Command::Trash { .. }
            | Command::Restore { .. }
            | Command::SetMode { .. }
            | Command::SetModel { .. }
            | Command::SetEnv { .. }
            | Command::SetBudget { .. } => self.row_wish(cmd, command).await,
            Command::TryAgain { .. } => match self.core.why_not_try_again() {
                Some(why) => Err(ControlError::not_now(why)),
                None => self.core_wish(cmd, command).await,
            },
            _ => self.core_wish(cmd, command).await,
        }
    }

    /// Stores a receipt together with what it is for, and with what the core makes of it: a host that ends behind it is
    /// followed by one that knows of the wish.
    async fn commit(
        &mut self,
        cmd: &Cmd,
        command: &Command,
        inputs: impl IntoIterator<Item = Input>,
        deed: impl FnOnce(&Connection) -> Result<Did, StoreError> + Send + 'static,
    ) -> Result<Receipt> {
        let digest = receipts::digest(cmd, command)?;
        let (key, at) = (cmd.key.clone(), now());
        let (core, effects) = (self.core.clone(), self.effects.len());
        for input in inputs {
            self.step(input);
        }
        let job = move |it: &Connection| receipts::once(it, &key, &digest, at, deed);
        let stored = self.store_with(at, Durability::Full, job).await;
        if stored.is_err() {
            self.core = core;
            self.effects.truncate(effects);
        }
        crate::points::passed("wish committed");
        Ok(stored?)
    }

    async fn queue_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let (by, at) = (cmd.principal.clone(), now());
        let wish = command.clone();
        if let Command::Send { message, .. } = &wish {
            message.says_something()?;
        }
        let deed = move |it: &Connection| match wish {
            Command::Send { session, message } => {
                queue::send(it, session, &message, at, &by)?;
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
                if queue::get(it, session, message)?.message.is_empty() {
                    let why = "the message would be empty: write something, or remove it";
                    return Err(StoreError::Invalid(why.to_owned()));
                }
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
        let receipt = self.commit(&cmd, &command, [], deed).await?;
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
        if let Command::Resume {
            message: Some(message),
            ..
        } = &command
        {
            message.says_something()?;
        }
        let wish = command.clone();
        let deed = move |it: &Connection| {
            match &wish {
                // What does not wait cannot be sent: it would hold up the others.
                Command::SendNow { message, .. } => drop(queue::waiting(it, session, *message)?),
                Command::Resume {
                    message: Some(message),
                    ..
                } => drop(queue::push_front(it, session, message, at, &by)?),
                _ => {}
            }
            Ok(Did::Done)
        };
        // An interrupt is a line that has to be stored; an end is a word to the keeper.
        let is_end = matches!(input, Input::Stop | Input::ForceEnd);
        let inputs = match input {
            Input::Resume => vec![Input::ReleaseQueue, Input::Resume],
            input => vec![input],
        };
        let committed = self.commit(&cmd, &command, inputs.clone(), deed).await;
        let receipt = match committed {
            // Whoever filled the disk can be ended all the same.
            Err(ControlError::NoSpace) if is_end => {
                for input in inputs {
                    self.step(input);
                }
                Receipt {
                    key: cmd.key,
                    at,
                    did: Did::Done,
                }
            }
            committed => committed?,
        };
        self.tell_queue().await;
        Ok(receipt)
    }

    /// Wishes that change what is stored of the session.
    async fn row_wish(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let mut row = self.row.clone();
        self.change(&mut row, &command)?;
        if let Command::SetModel {
            model: Some(model), ..
        } = &command
        {
            crate::model_names::check(&self.inner, model, &row.setup).await?;
        }
        let before = std::mem::replace(&mut self.row, row);
        let input = match &command {
            Command::SetEnv { .. } => Some(Input::Restart),
            Command::SetBudget { budget_usd, .. } => Some(Input::Budget {
                spent: self.row.cost_usd,
                budget: *budget_usd,
            }),
            Command::Trash { .. } => Some(Input::Stop),
            Command::SetMode { mode, .. } => Some(self.owing_mode(*mode)),
            Command::SetModel { model, .. } => Some(Input::ModelChosen {
                owed: Some(model.clone().unwrap_or_default()),
            }),
            _ => None,
        };
        let committed = self.commit(&cmd, &command, input, |_| Ok(Did::Done)).await;
        if committed.is_err() {
            self.row = before;
        }
        let receipt = committed?;
        self.unsaved.changed = true;
        match command {
            Command::SetMode { mode, .. } => self.set_cli_mode(mode, Some(&cmd.principal)).await,
            Command::SetModel { model, .. } => self.set_model(model).await,
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
                row.trashed.get_or_insert_with(now);
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
                if model.as_ref().is_some_and(|model| model.trim().is_empty()) {
                    return Err(ControlError::invalid(
                        "name a model, or leave it out for the CLI's own choice",
                    ));
                }
                row.setup.model.clone_from(model);
                row.model.clone_from(model);
            }
            Command::SetEnv { env, .. } => {
                desk::check_variables(env)?;
                row.setup.env.clone_from(env);
            }
            Command::SetBudget { budget_usd, .. } => {
                row.setup.budget_usd = budget::sound(*budget_usd)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Hands-off is given to the agent that is there, and for a time.
    fn check_hands_off(&self, until: u64) -> Result<()> {
        Desk::check_until(until, now())?;
        // The journal may say already that the agent has ended, before its connection does.
        match self.agent.is_some() && self.core.has_agent() {
            true => Ok(()),
            false => Err(ControlError::not_now(
                "hands-off is given to an agent that runs: send a message or resume the session first",
            )),
        }
    }

    pub(super) async fn set_model(&mut self, model: Option<String>) {
        let Some(agent) = &self.agent else {
            return;
        };
        let (handle, inner, id) = (agent.handle.clone(), self.inner.clone(), self.id);
        agent::say(async move {
            if let Err(error) = handle.set_model(model.as_deref()).await {
                inner.trouble(id, format!("the model was not taken: {error}"));
            }
        })
        .await;
    }

    /// Wishes that the agent itself fulfils, and whose answer is the receipt. It is not waited for here: one that does not
    /// answer must still be ended.
    async fn agent_wish(&mut self, cmd: Cmd, command: Command, reply: Reply) {
        let Some(agent) = &self.agent else {
            let why = "no agent is there: resume the session first";
            let _ = reply.send(Err(ControlError::not_now(why)));
            return;
        };
        let (handle, store) = (agent.handle.clone(), self.inner.store.clone());
        agent::say(async move {
            let _ = reply.send(fulfil(&handle, &store, cmd, command).await);
        })
        .await;
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

/// Whether the agent itself fulfils it.
fn is_for_agent(command: &Command) -> bool {
    matches!(
        command,
        Command::Rewind { .. } | Command::StopTask { .. } | Command::Mcp { .. }
    )
}

/// Has the agent fulfil a wish, and stores what it says as the receipt.
async fn fulfil(handle: &Handle, store: &Store, cmd: Cmd, command: Command) -> Result<Receipt> {
    let refused = |error: countersign_client::Error| ControlError::not_now(error.to_string());
    let digest = receipts::digest(&cmd, &command)?;
    let did = match &command {
        Command::StopTask { task, .. } => {
            handle.stop_task(task).await.map_err(refused)?;
            Did::Done
        }
        Command::Mcp { server, act, .. } => {
            let done = match act {
                McpAct::Reconnect => handle.mcp_reconnect(server).await,
                McpAct::Enable => handle.mcp_toggle(server, true).await,
                McpAct::Disable => handle.mcp_toggle(server, false).await,
            };
            done.map_err(refused)?;
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
    let (key, at) = (cmd.key, now());
    let job = move |it: &Connection| receipts::once(it, &key, &digest, at, |_| Ok(did));
    Ok(store.write(Durability::Normal, job).await?)
}
