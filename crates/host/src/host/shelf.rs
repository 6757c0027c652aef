//! What people keep beside sessions, asked and changed.
//!
//! Owns the implementation of [`Shelf`] and of the writes to it. Invariants: one write to the shelf at a time; what is
//! stored is in force when its receipt is given, but for a session whose actor is busy for longer than is waited for it: there
//! a rule holds from the next thing on that the actor does.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_journal::Cursor;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use serde_json::json;

use super::{Host, Inner, locked};
use crate::control::{
    ApprovalId, Browsed, Cmd, Command, ControlError, DecisionFilter, DecisionView, Did, DiskView,
    Drafts, Explain, Explained, Happened, ImportFilter, Importable, Insights, Keep, Page,
    PatchPreferences, Period, Preferences, Receipt, RecentFolder, Result, RuleView, SessionId,
    Shelf, TemplateView, Upload, WebhookView, now,
};
use crate::live::Order;
use crate::notify::Target;
use crate::session::Timing;
use crate::shelf::{
    PREFERENCES, WEBHOOKS, all_targets, changed, check_preferences, explain, not_fixed, put,
    rule_view, sound, start_preferences, webhook_view,
};
use crate::store::approvals::ApprovalRow;
use crate::store::{
    Connection, Durability, StoreError, around, decisions, events, insights, receipts, rules,
    sessions, settings,
};

impl Shelf for Host {
    fn rules(&self) -> BoxFuture<'_, Result<Vec<RuleView>>> {
        Box::pin(async move {
            let rows = self.inner.store.read(rules::all).await?;
            let at = now();
            Ok(rows.into_iter().map(|row| rule_view(row, at)).collect())
        })
    }

    fn explain(&self, what: Explain) -> BoxFuture<'_, Result<Explained>> {
        Box::pin(explain(&self.inner, what))
    }

    fn decisions(&self, filter: DecisionFilter) -> BoxFuture<'_, Result<Page<DecisionView>>> {
        Box::pin(async move {
            let mask = self.inner.settings.mask.clone();
            let page = self.inner.store.read(move |it| {
                let page = decisions::list(it, &filter)?;
                let views = page.items.into_iter().map(|row| decision(it, row));
                let views: Result<Vec<_>, _> = views.collect();
                let mut items: Vec<_> = views?.into_iter().flatten().collect();
                // Who asks for one letter after the other would find a secret out.
                if let Some(text) = &filter.text {
                    items.retain(|one| decisions::still_holds(one, text, &mask));
                }
                Ok(Page {
                    items,
                    next: page.next,
                })
            });
            Ok(page.await?)
        })
    }

    fn insights(&self, period: Period) -> BoxFuture<'_, Result<Insights>> {
        Box::pin(async move {
            let sums = self
                .inner
                .store
                .read(move |it| insights::read(it, period, now()));
            Ok(sums.await?)
        })
    }

    fn webhooks(&self) -> BoxFuture<'_, Result<Vec<WebhookView>>> {
        Box::pin(async move {
            let fixed = &self.inner.settings.targets;
            let is_fixed = |one: &Target| fixed.iter().any(|known| known.name == one.name);
            let all = all_targets(fixed, self.inner.store.read(stored_targets).await?);
            Ok(all
                .iter()
                .map(|one| webhook_view(one, is_fixed(one), self.inner.notifier.last(&one.name)))
                .collect())
        })
    }

    fn preferences(&self) -> BoxFuture<'_, Result<Preferences>> {
        Box::pin(async move { Ok(self.inner.preferences()) })
    }

    fn templates(&self) -> BoxFuture<'_, Result<Vec<TemplateView>>> {
        Box::pin(async move { Ok(self.inner.store.read(around::templates).await?) })
    }

    fn recent_folders(&self) -> BoxFuture<'_, Result<Vec<RecentFolder>>> {
        Box::pin(self.recent())
    }

    fn folders(&self, path: Option<PathBuf>) -> BoxFuture<'_, Result<Browsed>> {
        Box::pin(self.browsed(path))
    }

    fn importable(&self, filter: ImportFilter) -> BoxFuture<'_, Result<Vec<Importable>>> {
        Box::pin(self.to_import(filter))
    }

    fn disk(&self) -> BoxFuture<'_, Result<DiskView>> {
        Box::pin(self.disk_use())
    }

    fn drafts(&self, plan: ApprovalId) -> BoxFuture<'_, Result<Drafts>> {
        Box::pin(self.drafts_of(plan))
    }

    fn upload(
        &self,
        cmd: Cmd,
        session: SessionId,
        name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, Result<Receipt>> {
        Box::pin(self.take_upload(cmd, session, name, bytes))
    }

    fn uploads(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<Upload>>> {
        Box::pin(self.uploads_of(session))
    }

    fn journal(
        &self,
        session: SessionId,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Vec<u8>>>>> {
        Box::pin(self.journal_of(session))
    }
}

fn decision(it: &Connection, row: ApprovalRow) -> Result<Option<DecisionView>, StoreError> {
    let edited_input = row.edited_input();
    let Some(decided) = row.decided else {
        return Ok(None);
    };
    let sent = row.answer.and_then(|kept| kept.get("answer").cloned());
    Ok(Some(DecisionView {
        id: row.id,
        session: row.session,
        session_name: sessions::get(it, row.session)?.name,
        kind: row.kind,
        tool: row.tool,
        tool_use_id: row.tool_use_id,
        input: row.input,
        edited_input,
        digest: row.digest,
        path: row.path,
        asked: row.asked,
        record: Cursor::new(row.generation, row.seq).to_string(),
        decided,
        sent,
        life: row.life,
    }))
}

fn stored_targets(it: &Connection) -> Result<Vec<Target>, StoreError> {
    Ok(settings::get(it, WEBHOOKS)?.unwrap_or_default())
}

/// What was preferred, over what the host was started with.
pub(super) fn preferred(
    it: &Connection,
    start: &super::Settings,
) -> Result<(Preferences, Vec<Target>), StoreError> {
    let said: PatchPreferences = settings::get(it, PREFERENCES)?.unwrap_or_default();
    let targets = all_targets(&start.targets, stored_targets(it)?);
    Ok((said.over(&start_preferences(start)), targets))
}

fn refused(error: ControlError) -> StoreError {
    StoreError::Invalid(error.to_string())
}

impl Host {
    /// What of those who are told may show nowhere: addresses, secrets, headers.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn webhook_secrets(&self) -> Result<Vec<String>> {
        let stored = self.inner.store.read(stored_targets).await?;
        let all = all_targets(&self.inner.settings.targets, stored);
        Ok(all.iter().flat_map(|one| one.to.hidden()).collect())
    }

    /// Has something kept, or kept no longer.
    pub(super) async fn keep(&self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let Command::Keep(keep) = command.clone() else {
            return Err(ControlError::invalid("this host does not know the command"));
        };
        let _one = self.inner.shelving.lock().await;
        match keep {
            Keep::AddRule { .. } | Keep::ChangeRule { .. } | Keep::RemoveRule { .. } => {
                self.keep_rule(&cmd, &command, keep).await
            }
            Keep::PutWebhook { .. } | Keep::RemoveWebhook { .. } | Keep::TestWebhook { .. } => {
                self.keep_webhook(&cmd, &command, keep).await
            }
            Keep::PutTemplate { .. } | Keep::RemoveTemplate { .. } | Keep::PutComments { .. } => {
                self.keep_around(&cmd, &command, keep).await
            }
            Keep::RemoveUpload { session, name } => {
                self.remove_upload(&cmd, &command, session, name).await
            }
            Keep::Prefer { change } => self.prefer(&cmd, &command, change).await,
        }
    }

    pub(super) async fn kept(
        &self,
        cmd: &Cmd,
        command: &Command,
        deed: impl FnOnce(&Connection) -> Result<Did, StoreError> + Send + 'static,
    ) -> Result<Receipt> {
        let digest = receipts::digest(cmd, command)?;
        let (key, at) = (cmd.key.clone(), now());
        let job = move |it: &Connection| receipts::once(it, &key, &digest, at, deed);
        Ok(self.inner.store.write(Durability::Full, job).await?)
    }

    async fn keep_rule(&self, cmd: &Cmd, command: &Command, keep: Keep) -> Result<Receipt> {
        let at = now();
        let new = match &keep {
            Keep::AddRule { rule } => Some(sound(rule.clone(), cmd, at)?),
            _ => None,
        };
        let deed = move |it: &Connection| {
            let (id, session) = match (keep, new) {
                (Keep::ChangeRule { id, change }, _) => {
                    let old = rules::get(it, id)?.rule;
                    let new = changed(old, &change, at).map_err(refused)?;
                    rules::change(it, id, &new)?;
                    (id, new.session)
                }
                (Keep::RemoveRule { id }, _) => {
                    rules::remove(it, id)?;
                    (id, None)
                }
                (_, Some(new)) => {
                    if let Some(session) = new.session {
                        sessions::get(it, session)?;
                    }
                    (rules::add(it, &new)?, new.session)
                }
                (_, None) => return Ok(Did::Done),
            };
            events::add(it, at, session, &Happened::Rules)?;
            let value = json!({ "rule": id });
            Ok(Did::Value { value })
        };
        let receipt = self.kept(cmd, command, deed).await?;
        self.inner.happened();
        self.inner.rules_in_force().await;
        Ok(receipt)
    }

    async fn keep_webhook(&self, cmd: &Cmd, command: &Command, keep: Keep) -> Result<Receipt> {
        let fixed = self.inner.settings.targets.clone();
        if let Keep::TestWebhook { name } = &keep {
            if !self.inner.notifier.test(name) {
                return Err(ControlError::not_found("webhook", name));
            }
            return self.kept(cmd, command, |_| Ok(Did::Done)).await;
        }
        let (name, webhook) = match keep {
            Keep::PutWebhook { name, webhook } => (name, Some(webhook)),
            Keep::RemoveWebhook { name } => (name, None),
            _ => return Err(ControlError::invalid("this host does not know the command")),
        };
        not_fixed(&fixed, &name)?;
        let mut stored = self.inner.store.read(stored_targets).await?;
        match webhook {
            Some(webhook) => put(&fixed, &mut stored, &name, webhook)?,
            None => {
                let before = stored.len();
                stored.retain(|one| one.name != name);
                if stored.len() == before {
                    return Err(ControlError::not_found("webhook", name));
                }
            }
        }
        let all = all_targets(&fixed, stored.clone());
        let deed = move |it: &Connection| {
            settings::set(it, WEBHOOKS, &stored)?;
            Ok(Did::Done)
        };
        let receipt = self.kept(cmd, command, deed).await?;
        if let Err(error) = self.inner.notifier.set_targets(all) {
            return Err(ControlError::invalid(error.to_string()));
        }
        Ok(receipt)
    }

    async fn prefer(
        &self,
        cmd: &Cmd,
        command: &Command,
        change: PatchPreferences,
    ) -> Result<Receipt> {
        check_preferences(&change)?;
        let deed = move |it: &Connection| {
            let said: PatchPreferences = settings::get(it, PREFERENCES)?.unwrap_or_default();
            settings::set(it, PREFERENCES, &said.then(change))?;
            Ok(Did::Done)
        };
        let receipt = self.kept(cmd, command, deed).await?;
        let start = self.inner.settings.clone();
        let read = self.inner.store.read(move |it| preferred(it, &start));
        let (preferences, _) = read.await?;
        let let_in = locked(&self.inner.room).set_cap(preferences.max_agents);
        *locked(&self.inner.preferences) = preferences;
        for next in let_in {
            self.inner.post(next, Order::Admitted);
        }
        self.inner.tell_all(|| Order::Tuned);
        Ok(receipt)
    }
}

impl Inner {
    /// What this host goes by.
    pub(crate) fn preferences(&self) -> Preferences {
        locked(&self.preferences).clone()
    }

    /// How long is waited for what, at the moment.
    pub(crate) fn timing(&self) -> Timing {
        Timing {
            sleep_after: self.preferences().sleep_after,
            ..self.settings.timing
        }
    }

    /// Everybody who looks after a session is told.
    fn tell_all(self: &Arc<Self>, order: impl Fn() -> Order) {
        let all: Vec<_> = locked(&self.actors).keys().copied().collect();
        for one in all {
            self.post(one, order());
        }
    }
}
