//! What happens in all sessions, told by number.
//!
//! Owns where history ends in it: at the number that was the last one when the reader came. Invariant: a reader knows a number
//! to go on from before anything new happens, so nothing is lost between two connections.

use std::sync::Arc;

use countersign_api::EventsCaughtUp;
use countersign_api::control::HostEvent;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};

use super::Frame;
use super::data::{json, of_event};
use crate::redact::Redactor;

/// These events, with a word where they have reached `last`.
pub(crate) fn of_events(
    events: BoxStream<'static, HostEvent>,
    after: u64,
    last: u64,
    mask: Arc<Redactor>,
) -> BoxStream<'static, Frame> {
    // Who has a number of a time to come hears of a gap first.
    let mut is_told = after == last;
    let first = is_told.then(|| caught_up(last));
    let rest = events.flat_map(move |event| {
        let is_there = !is_told && event.number >= last;
        is_told |= is_there;
        let frames = [
            Some(of_event(&event, &mask)),
            is_there.then(|| caught_up(event.number)),
        ];
        stream::iter(frames.into_iter().flatten())
    });
    stream::iter(first).chain(rest).boxed()
}

fn caught_up(number: u64) -> Frame {
    let data = json(&EventsCaughtUp { number });
    Frame::new("caught-up", Some(number.to_string()), data)
}

#[cfg(test)]
mod tests {
    use countersign_api::control::Happened;

    use super::*;

    async fn told(after: u64, last: u64, numbers: &[u64]) -> Vec<(String, String)> {
        let events: Vec<HostEvent> = numbers
            .iter()
            .map(|number| HostEvent {
                number: *number,
                at: 0,
                session: None,
                what: Happened::Rules,
            })
            .collect();
        let frames = of_events(stream::iter(events).boxed(), after, last, Arc::default());
        let named = frames.map(|frame| (frame.name, frame.id.unwrap_or_default()));
        named.collect().await
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = expected.iter();
        owned
            .map(|(name, id)| ((*name).to_owned(), (*id).to_owned()))
            .collect()
    }

    #[tokio::test]
    async fn history_ends_once_and_where_it_ended_when_the_reader_came() {
        let expected = [
            ("rules", "3"),
            ("rules", "4"),
            ("caught-up", "4"),
            ("rules", "5"),
        ];
        assert_eq!(told(2, 4, &[3, 4, 5]).await, pairs(&expected));
        let expected = [("caught-up", "4"), ("rules", "5")];
        assert_eq!(told(4, 4, &[5]).await, pairs(&expected));
        assert_eq!(told(0, 0, &[]).await, pairs(&[("caught-up", "0")]));
    }
}
