//! Followers of what happens in all sessions.
//!
//! Owns the stream of events by number. Only the news that there is something is told; each follower reads the database at
//! its own pace. Invariant: a follower gets every event behind its number, or a word that there is a gap.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::BoxStream;
use tokio::sync::{mpsc, watch};

use crate::control::HostEvent;
use crate::store::{Store, events};

/// So many events wait for a follower that does not read, and are read at once.
const AT_ONCE: usize = 64;

/// Events behind `after`, as they come.
pub(crate) fn follow(
    store: Store,
    mut after: u64,
    mut news: watch::Receiver<u64>,
) -> BoxStream<'static, HostEvent> {
    let (sender, receiver) = mpsc::channel(AT_ONCE);
    tokio::spawn(async move {
        loop {
            news.borrow_and_update();
            let found = store
                .read(move |it| events::after(it, after, AT_ONCE))
                .await;
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(%error, "events cannot be read");
                    return;
                }
            };
            let is_end = found.len() < AT_ONCE;
            for event in found {
                // Also back: a number from before the database was put back to an older copy leads nowhere.
                after = event.number;
                if sender.send(event).await.is_err() {
                    return;
                }
            }
            if is_end {
                tokio::select! {
                    changed = news.changed() => if changed.is_err() {
                        return;
                    },
                    () = sender.closed() => return,
                }
            }
        }
    });
    Box::pin(Events(receiver))
}

struct Events(mpsc::Receiver<HostEvent>);

impl Stream for Events {
    type Item = HostEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<HostEvent>> {
        self.0.poll_recv(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::control::Happened;
    use crate::store::{Connection, Durability};

    #[tokio::test]
    async fn a_follower_from_before_an_older_copy_goes_on_behind_the_gap() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(&place.path().join("host.db")).unwrap();
        let add = async || {
            let add = |it: &Connection| events::add(it, 1, None, &Happened::Rules);
            store.write(Durability::Normal, add).await.unwrap()
        };
        let last = add().await;
        let news = watch::Sender::new(0);
        let mut followed = follow(store.clone(), 500, news.subscribe());
        let mut next = async || {
            let next = std::future::poll_fn(|context| followed.as_mut().poll_next(context));
            let next = tokio::time::timeout(Duration::from_secs(20), next).await;
            let event = next.unwrap().unwrap();
            (event.number, event.what)
        };
        assert_eq!(next().await, (last, Happened::Gap));
        for _ in 0..2 {
            let number = add().await;
            news.send_modify(|news| *news += 1);
            assert_eq!(next().await, (number, Happened::Rules));
        }
    }
}
