//! The client's road to an agent, by way of its keeper.
//!
//! Owns the translation: messages and requests get a number, answers name their question. Holds the connection; when the
//! session lets go of it, the socket closes and the keeper goes on alone.

use std::sync::Arc;

use countersign_client::Graces;
use countersign_client::kept::{Freight, KeptExit, Road, RoadError};
use futures_core::future::BoxFuture;

use super::connection::Attachment;
use super::lines::Ending;
use super::state::parcel;
use crate::protocol::{EndPlan, MAX_PUT, Ref};

pub(super) struct ByKeeper {
    pub(super) attachment: Arc<Attachment>,
    pub(super) ending: Arc<Ending>,
}

impl Road for ByKeeper {
    fn put(&self, line: Vec<u8>, freight: Freight<'_>) -> Result<(), RoadError> {
        let state = &self.attachment.state;
        if state.is_over() {
            return Err(RoadError::Closed);
        }
        let (what, note, refuses) = match freight {
            Freight::Answer {
                request_id,
                note,
                refuses,
            } => {
                let note = note.and_then(|note| note.to().ok());
                (Ref::Answer(request_id.to_owned()), note, refuses)
            }
            _ => {
                // Before it gets a number, which would be used up by a line that no keeper takes.
                if state.is_full(line.len()) || line.len() > MAX_PUT {
                    return Err(RoadError::Full);
                }
                let entered = state.outbox().enter_noted(line.trim_ascii_end());
                let (n, note) = entered.map_err(|error| {
                    tracing::warn!(%error, "a line cannot be stored, so it does not go");
                    RoadError::Full
                })?;
                // It grants nothing, and the turn is to end though the disk is full.
                let note = note.or_else(|| self.attachment.next_note().take());
                (Ref::N(n), note, is_interrupt(&line))
            }
        };
        let bytes = parcel(&what, &line, note, refuses).map_err(|_| RoadError::Closed)?;
        self.attachment.send(what, bytes, None);
        Ok(())
    }

    fn flushed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.attachment.state.flushed())
    }

    fn end(&self, graces: Graces) {
        let is_hurried = graces.close.is_zero() && graces.term.is_zero();
        let plan = match is_hurried {
            true => EndPlan::Kill,
            false => EndPlan::Gentle,
        };
        // Over already: then the agent has ended, or its keeper has.
        let _ = self.attachment.end(plan, "the host closed the session");
    }

    fn exit(&self) -> Option<KeptExit> {
        self.ending.exit()
    }
}

/// Returns whether a line interrupts a turn.
fn is_interrupt(line: &[u8]) -> bool {
    let Ok(route) = countersign_wire::route::Route::of(line.trim_ascii_end()) else {
        return false;
    };
    route.kind.raw() == b"control_request"
        && route.subtype.is_some_and(|it| it.raw() == b"interrupt")
}
