//! What clients ask of this host, and the one way for what they want done.
//!
//! Owns the implementation of [`Control`]. Every answer is one look at the database or at a journal.

use countersign_transcript::{Entry, EntryId, Totals};
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;

use crate::control::approval::Life;
use crate::control::{
    Above, ApprovalFilter, ApprovalId, ApprovalView, Cmd, Command, Control, ControlError, Earlier,
    EarlierPart, Followed, Found, HostEvent, Page, PlanVersion, Queued, Receipt, Result,
    SessionFilter, SessionId, SessionView, State, Told, Usage, Vitals, WorktreeView,
};
use crate::follow::{self};
use crate::pages::{self, PagesError};
use crate::pull::Pulled;
use crate::store::{approvals, events, page, plans, queue, search, sessions, usage, vitals};

use crate::upserts::Teller;

use super::Host;
use super::view::{approval_view, view};

impl Control for Host {
    fn vitals(&self) -> BoxFuture<'_, Result<Vitals>> {
        Box::pin(async move {
            let mut vitals = self.inner.store.read(vitals::read).await?;
            let written = self.inner.store.counts();
            vitals.records = self.inner.levels.records();
            vitals.transactions = written.transactions;
            vitals.writes_waiting = written.waiting;
            vitals.disk_full = self.inner.reserve.is_full();
            Ok(vitals)
        })
    }

    fn execute(&self, cmd: Cmd, command: Command) -> BoxFuture<'_, Result<Receipt>> {
        let host = self.clone();
        Box::pin(async move {
            // Whoever asked may hang up half-way: what is begun is done whole all the same.
            let done = tokio::spawn(async move { host.execute_with_room(cmd, command).await });
            done.await.unwrap_or_else(|error| {
                Err(ControlError::Unknown {
                    why: format!("the command broke off half-way: {error}"),
                })
            })
        })
    }

    fn sessions(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Page<SessionView>>> {
        Box::pin(async move {
            known(&filter.states, &State::NAMES, "state")?;
            let page = self.inner.store.read(move |it| sessions::list(it, &filter));
            let page = page.await?;
            let items = page.items.into_iter().map(view);
            Ok(Page {
                items: items.map(|view| self.inner.as_it_stands(view)).collect(),
                next: page.next,
            })
        })
    }

    fn session(&self, id: SessionId) -> BoxFuture<'_, Result<SessionView>> {
        Box::pin(async move {
            let listed = self
                .inner
                .store
                .read(move |it| sessions::listed(it, id))
                .await?;
            Ok(self.inner.as_it_stands(view(listed)))
        })
    }

    fn queue(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<Queued>>> {
        Box::pin(async move {
            let rows = self.inner.store.read(move |it| {
                sessions::get(it, id)?;
                queue::list(it, id)
            });
            Ok(rows.await?.iter().map(queue::QueuedRow::view).collect())
        })
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Page<ApprovalView>>> {
        Box::pin(async move {
            known(&filter.life, &Life::NAMES, "part of an approval's life")?;
            let page = self.inner.store.read(move |it| {
                let page = approvals::list(it, &filter)?;
                let views = page.items.into_iter().map(|row| approval_view(it, row));
                Ok(Page {
                    items: views.collect::<std::result::Result<_, _>>()?,
                    next: page.next,
                })
            });
            Ok(page.await?)
        })
    }

    fn approval(&self, id: ApprovalId) -> BoxFuture<'_, Result<ApprovalView>> {
        Box::pin(async move {
            let row = self
                .inner
                .store
                .read(move |it| approval_view(it, approvals::get(it, id)?));
            Ok(row.await?)
        })
    }

    fn plans(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<PlanVersion>>> {
        Box::pin(async move {
            let rows = self.inner.store.read(move |it| {
                sessions::get(it, id)?;
                Ok((plans::list(it, id)?, plans::presented(it, id)?))
            });
            let (rows, presented) = rows.await?;
            let mut versions: Vec<PlanVersion> = Vec::new();
            for row in rows {
                let last = versions.last().map(|last| last.text.clone());
                let again = presented.iter().filter(|(number, approval)| {
                    *number == row.number && Some(*approval) != row.approval
                });
                versions.push(PlanVersion {
                    approval: row.approval,
                    asked_again: again.map(|(_, approval)| *approval).collect(),
                    number: row.number,
                    at: row.at,
                    by: row.by,
                    changes: last
                        .map_or_else(String::new, |last| crate::plan::compare(&last, &row.text)),
                    text: row.text,
                });
            }
            Ok(versions)
        })
    }

    fn transcript(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> BoxFuture<'_, Result<Above<Entry>>> {
        Box::pin(self.transcript_page(id, before, most))
    }

    fn earlier(&self, id: SessionId, part: EarlierPart) -> BoxFuture<'_, Result<Option<Earlier>>> {
        Box::pin(crate::earlier::of(&self.inner, id, part))
    }

    fn transcript_follow(
        &self,
        id: SessionId,
        after: Option<String>,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Told>>>> {
        Box::pin(async move {
            self.inner
                .store
                .read(move |it| sessions::get(it, id).map(drop))
                .await?;
            let after = after.as_deref().map(follow::cursor).transpose()?;
            let teller = Teller::new(&self.inner, id, after);
            Ok(Box::pin(Pulled::new(teller)) as BoxStream<'static, _>)
        })
    }

    fn totals(&self, id: SessionId) -> BoxFuture<'_, Result<Totals>> {
        Box::pin(async move {
            Ok(self
                .inner
                .store
                .read(move |it| {
                    sessions::get(it, id)?;
                    usage::totals(it, id)
                })
                .await?)
        })
    }

    fn follow(
        &self,
        id: SessionId,
        after: Option<String>,
        max_inline: usize,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Followed>>>> {
        Box::pin(async move {
            self.inner
                .store
                .read(move |it| sessions::get(it, id).map(drop))
                .await?;
            let after = after.as_deref().map(follow::cursor).transpose()?;
            let dir = self.inner.folders.session(id);
            let levels = self.inner.levels.watch(id);
            Ok(follow::follow(dir, after, max_inline, levels))
        })
    }

    fn read(
        &self,
        id: SessionId,
        cursor: String,
        range: std::ops::Range<u64>,
    ) -> BoxFuture<'_, Result<Vec<u8>>> {
        Box::pin(async move {
            let at = follow::cursor(&cursor)?;
            let dir = self.inner.folders.session(id);
            let read = tokio::task::spawn_blocking(move || {
                countersign_journal::read_range(&dir, at, range)
            });
            match read.await {
                Ok(Ok(bytes)) => Ok(bytes),
                Ok(Err(_)) => Err(ControlError::not_found("record", cursor)),
                Err(error) => Err(ControlError::Unknown {
                    why: error.to_string(),
                }),
            }
        })
    }

    fn last_event(&self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move { Ok(self.inner.store.read(events::last).await?) })
    }

    fn events(&self, after: Option<u64>) -> BoxFuture<'_, Result<BoxStream<'static, HostEvent>>> {
        Box::pin(async move {
            let news = self.inner.news.subscribe();
            let last = match after {
                Some(after) => after,
                None => self.inner.store.read(events::last).await?,
            };
            Ok(crate::events::follow(self.inner.store.clone(), last, news))
        })
    }

    fn search(&self, words: String, most: usize) -> BoxFuture<'_, Result<Vec<Found>>> {
        Box::pin(async move {
            let mask = self.inner.settings.mask.clone();
            let found = self.inner.store.read(move |it| {
                let found = search::search(it, &words, most, None)?;
                search::without_secrets(it, &words, found.items, &mask)
            });
            Ok(found.await?)
        })
    }

    fn usage(&self, since: u64) -> BoxFuture<'_, Result<Usage>> {
        Box::pin(async move {
            let day = crate::money::day(since);
            Ok(self
                .inner
                .store
                .read(move |it| usage::since(it, &day))
                .await?)
        })
    }

    fn diff(&self, id: SessionId) -> BoxFuture<'_, Result<String>> {
        Box::pin(async move {
            let row = self
                .inner
                .store
                .read(move |it| sessions::get(it, id))
                .await?;
            crate::make::diff(&self.inner, &row).await
        })
    }

    fn worktree(&self, id: SessionId) -> BoxFuture<'_, Result<WorktreeView>> {
        Box::pin(self.worktree_view(id))
    }
}

/// Whether these words are among those that there are: a filter with any other one would find nothing, for ever.
fn known<'a>(
    words: impl IntoIterator<Item = &'a String>,
    names: &[&str],
    what: &str,
) -> Result<()> {
    let unknown = words
        .into_iter()
        .find(|word| !names.contains(&word.as_str()));
    match unknown {
        Some(word) => Err(ControlError::invalid(format!(
            "`{word}` is no {what}: {}",
            names.join(", ")
        ))),
        None => Ok(()),
    }
}

impl Host {
    pub(super) async fn transcript_page(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> Result<Above<Entry>> {
        let most = page::size(most);
        self.inner
            .store
            .read(move |it| sessions::get(it, id).map(drop))
            .await?;
        let turn = self.inner.pages.take(id).await;
        let dir = self.inner.folders.session(id);
        let store = self.inner.store.clone();
        let level = self.inner.levels.watch(id).borrow().clone();
        let read = tokio::task::spawn_blocking(move || {
            if !dir.join("journal").exists() {
                return Ok(Above {
                    items: Vec::new(),
                    more: false,
                    cursor: countersign_journal::Cursor::START.to_string(),
                });
            }
            let (pages, mut reader) = pages::open(&store, &dir, id, level.tail, &turn)?;
            let page = match before {
                Some(before) => pages.before(&mut reader, before, most),
                None => pages.newest(&mut reader, most),
            };
            let page = page.map_err(PagesError::from)?;
            Ok(Above {
                more: page.older.is_some(),
                items: page.entries,
                cursor: pages.cursor().to_string(),
            })
        });
        read.await.unwrap_or_else(|error| {
            Err(ControlError::Unknown {
                why: error.to_string(),
            })
        })
    }
}
