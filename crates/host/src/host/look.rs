//! What clients ask of this host, and the one way for what they want done.
//!
//! Owns the implementation of [`Control`]. Every answer is one look at the database or at a journal.

use std::sync::Arc;

use countersign_transcript::pages::{Every, Pages};
use countersign_transcript::{Entry, EntryId, Totals};
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;

use crate::control::{
    Above, ApprovalFilter, ApprovalId, ApprovalView, Cmd, Command, Control, ControlError, Followed,
    Found, HostEvent, Page, PlanVersion, Queued, Receipt, Result, SessionFilter, SessionId,
    SessionView, Usage,
};
use crate::follow::{self};
use crate::store::shelf::StoredShelf;
use crate::store::{approvals, events, plans, queue, search, sessions, usage};

use super::view::{approval_view, view};
use super::{Host, locked};

impl Control for Host {
    fn execute(&self, cmd: Cmd, command: Command) -> BoxFuture<'_, Result<Receipt>> {
        Box::pin(self.execute(cmd, command))
    }

    fn sessions(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Page<SessionView>>> {
        Box::pin(async move {
            let page = self.inner.store.read(move |it| sessions::list(it, &filter));
            let page = page.await?;
            Ok(Page {
                items: page.items.into_iter().map(view).collect(),
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
            Ok(view(listed))
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
                plans::list(it, id)
            });
            let mut versions: Vec<PlanVersion> = Vec::new();
            for row in rows.await? {
                let last = versions.last().map(|last| last.text.clone());
                versions.push(PlanVersion {
                    approval: row.approval,
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

    fn totals(&self, id: SessionId) -> BoxFuture<'_, Result<Totals>> {
        Box::pin(async move {
            Ok(self
                .inner
                .store
                .read(move |it| usage::totals(it, id))
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
            let found = self
                .inner
                .store
                .read(move |it| search::search(it, &words, most, None));
            Ok(found.await?.items)
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
}

impl Host {
    async fn transcript_page(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> Result<Above<Entry>> {
        let gate = {
            let mut pages = locked(&self.inner.pages);
            pages.retain(|_, gate| Arc::strong_count(gate) > 1);
            Arc::clone(pages.entry(id).or_default())
        };
        let _one = gate.lock().await;
        self.inner
            .store
            .read(move |it| sessions::get(it, id).map(drop))
            .await?;
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
            let failed = |error: &dyn std::fmt::Display| ControlError::Unavailable {
                why: format!("the transcript cannot be read: {error}"),
                retry_ms: 1_000,
            };
            let mut reader =
                countersign_journal::Reader::open(&dir).map_err(|error| failed(&error))?;
            reader.set_limit(level.tail);
            let shelf = StoredShelf::new(store, id);
            let mut pages = Pages::open(shelf, Every::default()).map_err(|error| failed(&error))?;
            pages
                .catch_up(&mut reader)
                .map_err(|error| failed(&error))?;
            let page = match before {
                Some(before) => pages.before(&mut reader, before, most),
                None => pages.newest(&mut reader, most),
            };
            let page = page.map_err(|error| failed(&error))?;
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
