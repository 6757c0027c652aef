//! Who listens to the events of a session, and what each of them has not read yet.
//!
//! Owns the queue of one listener and [`Events`], its reading end. Invariants: handing over never waits; a listener
//! that does not read costs at most its bound in bytes and what came first and last, loses the oldest lines beyond it and
//! is told so by [`Event::Lagged`]; the last event is [`Event::Closed`].

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::batch::{Batch, Frame};
use super::notice::Notice;
use crate::closed::Closed;

/// What a session tells.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A line of the CLI. Lines that are no message are here too ([`crate::Kind::Malformed`]).
    Message(Frame),
    /// A line longer than [`crate::Bounds::max_line`] was passed over.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
    /// You did not read for so long that the oldest lines were given up. The next event follows the gap.
    Lagged {
        /// How many events are lost.
        events: u64,
        /// How many bytes they had.
        bytes: u64,
    },
    /// Something the client noticed and dealt with.
    Notice(Notice),
    /// The end: how the agent ended. Nothing follows.
    Closed(Arc<Closed>),
}

impl Event {
    /// The line, if it is one.
    pub fn frame(&self) -> Option<&Frame> {
        match self {
            Self::Message(frame) => Some(frame),
            _ => None,
        }
    }

    /// The typed message, if it is a line that decodes.
    pub fn message(&self) -> Option<countersign_wire::CliMessage> {
        self.frame().and_then(|frame| frame.message().ok())
    }
}

/// What waits for a listener.
#[derive(Debug)]
enum Item {
    Batch(Arc<Batch>),
    Single(Event),
}

#[derive(Debug)]
struct Waiting {
    items: VecDeque<Item>,
    bytes: usize,
    lagged_events: u64,
    lagged_bytes: u64,
    waker: Option<Waker>,
    is_closed: bool,
}

/// One listener's queue.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    limit: usize,
}

impl Queue {
    fn new(limit: usize) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                items: VecDeque::new(),
                bytes: 0,
                lagged_events: 0,
                lagged_bytes: 0,
                waker: None,
                is_closed: false,
            }),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: Item) {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return;
        }
        waiting.is_closed = matches!(item, Item::Single(Event::Closed(_)));
        // The bound is on what waits between the oldest and the new: a line is taken whatever its size, and one that is
        // larger than the bound is not given up for the little that came right behind it.
        while waiting.bytes_behind_oldest() > self.limit {
            waiting.give_up_oldest();
        }
        waiting.bytes += item.cost();
        waiting.items.push_back(item);
        let waker = waiting.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Waiting {
    fn bytes_behind_oldest(&self) -> usize {
        self.bytes - self.items.front().map_or(0, Item::cost)
    }

    fn give_up_oldest(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        self.bytes -= item.cost();
        match item {
            Item::Batch(batch) => {
                self.lagged_events += batch.len() as u64;
                self.lagged_bytes += batch.cost() as u64;
            }
            Item::Single(_) => self.lagged_events += 1,
        }
    }
}

impl Item {
    fn cost(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.cost(),
            Self::Single(_) => 64,
        }
    }
}

/// All listeners of a session.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    queues: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    queues: Vec<Weak<Queue>>,
    closed: Option<Arc<Closed>>,
}

impl Audience {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new listener, from now on. `alive` is kept as long as it listens.
    pub(crate) fn join(&self, limit: usize, alive: Option<Arc<super::Alive>>) -> Events {
        let queue = Arc::new(Queue::new(limit));
        let mut listeners = self.lock();
        listeners.queues.retain(|queue| queue.strong_count() > 0);
        match &listeners.closed {
            Some(closed) => queue.push(Item::Single(Event::Closed(Arc::clone(closed)))),
            None => listeners.queues.push(Arc::downgrade(&queue)),
        }
        Events {
            queue,
            current: None,
            is_over: false,
            _alive: alive,
        }
    }

    pub(crate) fn hand_over(&self, batch: Batch) {
        if batch.len() == 0 {
            return;
        }
        let batch = Arc::new(batch);
        for queue in self.lock().queues.iter().filter_map(Weak::upgrade) {
            queue.push(Item::Batch(Arc::clone(&batch)));
        }
    }

    /// Whether for some listener half of what may wait does.
    pub(crate) fn is_behind(&self) -> bool {
        let listeners = self.lock();
        let mut queues = listeners.queues.iter().filter_map(Weak::upgrade);
        queues.any(|queue| queue.lock().bytes > queue.limit / 2)
    }

    pub(crate) fn tell(&self, event: &Event) {
        let mut listeners = self.lock();
        if let Event::Closed(closed) = event {
            listeners.closed = Some(Arc::clone(closed));
        }
        for queue in listeners.queues.iter().filter_map(Weak::upgrade) {
            queue.push(Item::Single(event.clone()));
        }
    }
}

/// The events of a session, in order, from the moment it was made. Ends after [`Event::Closed`].
///
/// Reading is cancel-safe: an event is either given or still there.
#[derive(Debug)]
#[must_use = "events that nobody reads are given up beyond the bound"]
pub struct Events {
    queue: Arc<Queue>,
    current: Option<(Arc<Batch>, usize)>,
    is_over: bool,
    _alive: Option<Arc<super::Alive>>,
}

impl Events {
    /// The next event; `None` after the last one.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    /// The next event if there is one already.
    pub fn try_next(&mut self) -> Option<Event> {
        if let Some(event) = self.next_of_batch() {
            return Some(event);
        }
        let queue = Arc::clone(&self.queue);
        let mut waiting = queue.lock();
        self.next_of_queue(&mut waiting)
    }

    pub(crate) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Some(event) = self.next_of_batch() {
            return Poll::Ready(Some(event));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        let queue = Arc::clone(&self.queue);
        let mut waiting = queue.lock();
        match self.next_of_queue(&mut waiting) {
            Some(event) => Poll::Ready(Some(event)),
            None => {
                match &waiting.waker {
                    Some(waker) if waker.will_wake(context.waker()) => {}
                    _ => waiting.waker = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }

    fn next_of_batch(&mut self) -> Option<Event> {
        let (batch, index) = self.current.as_mut()?;
        let frame = Frame::new(Arc::clone(batch), *index);
        *index += 1;
        if *index >= batch.len() {
            self.current = None;
        }
        Some(Event::Message(frame))
    }

    fn next_of_queue(&mut self, waiting: &mut Waiting) -> Option<Event> {
        if waiting.lagged_events > 0 {
            let events = std::mem::take(&mut waiting.lagged_events);
            let bytes = std::mem::take(&mut waiting.lagged_bytes);
            return Some(Event::Lagged { events, bytes });
        }
        let item = waiting.items.pop_front()?;
        waiting.bytes -= item.cost();
        match item {
            Item::Batch(batch) => {
                self.current = Some((batch, 0));
                self.next_of_batch()
            }
            Item::Single(event) => {
                self.is_over = matches!(event, Event::Closed(_));
                Some(event)
            }
        }
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_event(context)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn batch(first: u64, lines: usize, size: usize) -> Batch {
        let mut line = br#"{"type":"x","y":""#.to_vec();
        line.resize(size - 3, b'y');
        line.extend_from_slice(b"\"}\n");
        let bytes = Bytes::from(line.repeat(lines));
        let mut batch = Batch::new(bytes, first);
        for n in 0..lines {
            batch.push(batch.route(n * size, (n + 1) * size - 1));
        }
        batch
    }

    fn positions(events: &mut Events) -> Vec<String> {
        let mut seen = Vec::new();
        while let Some(event) = events.try_next() {
            seen.push(match event {
                Event::Message(frame) => frame.position().to_string(),
                Event::Lagged { events, .. } => format!("lagged {events}"),
                other => format!("{other:?}"),
            });
        }
        seen
    }

    #[test]
    fn every_listener_gets_every_event_in_order() {
        let audience = Audience::default();
        let mut first = audience.join(1 << 20, None);
        let mut second = audience.join(1 << 20, None);
        audience.hand_over(batch(0, 2, 100));
        audience.hand_over(batch(2, 1, 100));
        assert_eq!(positions(&mut first), ["0", "1", "2"]);
        assert_eq!(positions(&mut second), ["0", "1", "2"]);
    }

    #[test]
    fn one_that_does_not_read_is_told_what_it_lost_and_goes_on() {
        let audience = Audience::default();
        let mut slow = audience.join(4000, None);
        for n in 0..10 {
            audience.hand_over(batch(n * 10, 10, 100));
        }
        let seen = positions(&mut slow);
        assert_eq!(seen[0], "lagged 60");
        assert_eq!(seen[1], "60");
        assert_eq!(seen.len(), 41);
        audience.hand_over(batch(100, 1, 100));
        assert_eq!(positions(&mut slow), ["100"]);
    }

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let audience = Audience::default();
        let slow = audience.join(1 << 20, None);
        for n in 0..1000 {
            audience.hand_over(batch(n * 100, 100, 200));
            assert!(slow.queue.lock().bytes <= (1 << 20) + 80_000);
        }
    }

    #[test]
    fn one_event_larger_than_the_bound_is_still_given() {
        let audience = Audience::default();
        let mut small = audience.join(1000, None);
        audience.hand_over(batch(0, 1, 5000));
        audience.hand_over(batch(1, 1, 100));
        audience.hand_over(batch(2, 1, 100));
        assert_eq!(positions(&mut small), ["0", "1", "2"]);
    }
}
