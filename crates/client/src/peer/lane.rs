//! The questions that no callback answers, waiting for whoever reads them.
//!
//! Owns the lane beside the events. Invariants: nothing waits here that was withdrawn, so there are never more questions
//! than may be open; what is left when the reader is gone is dropped, which refuses it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::question::Question;

#[derive(Default)]
pub(crate) struct Lane {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Question>,
    waker: Option<Waker>,
    is_closed: bool,
}

impl Lane {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, question: Question) {
        let mut state = self.lock();
        if state.is_closed {
            // Dropping refuses, which takes other locks: after this one is free.
            drop(state);
            return drop(question);
        }
        state.waiting.push_back(question);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes out what the CLI no longer wants an answer to.
    pub(crate) fn forget_withdrawn(&self) {
        let mut state = self.lock();
        let all = std::mem::take(&mut state.waiting);
        let (gone, left): (VecDeque<_>, _) = all
            .into_iter()
            .partition(|question| question.responder().is_withdrawn());
        state.waiting = left;
        drop(state);
        drop(gone);
    }

    /// Nothing more comes, or nobody reads any more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.waiting);
        let waker = state.waker.take();
        drop(state);
        drop(left);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn try_next(&self) -> Option<Question> {
        self.lock().waiting.pop_front()
    }

    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Question>> {
        let mut state = self.lock();
        if let Some(question) = state.waiting.pop_front() {
            return Poll::Ready(Some(question));
        }
        if state.is_closed {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
