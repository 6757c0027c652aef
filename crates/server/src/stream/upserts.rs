//! What a follower of a transcript is told.
//!
//! Owns the events of it. Invariant: everything that one record changes is one event with that record's id, so whoever goes
//! on behind an id has seen all of that record or nothing.

use countersign_api::control::Told;

use super::Frame;
use super::data::{caught_up, json, leaving, moved, rewound};
use crate::redact::Redactor;

/// One step of a transcript as an event.
pub(crate) fn of_told(told: &Told, mask: &Redactor) -> Frame {
    match told {
        Told::Changes(changes) => {
            let id = changes.cursor.to_string();
            match leaving(changes, mask) {
                Ok(data) => Frame::new("entries", Some(id), data),
                Err(problem) => Frame::new("problem", None, json(&problem)),
            }
        }
        Told::Totals(totals) => {
            let data = leaving(totals, mask).unwrap_or_else(|problem| json(&problem));
            Frame::new("totals", None, data)
        }
        Told::CaughtUp { cursor } => caught_up(cursor),
        Told::Rewound { to } => rewound(to),
        Told::Moved { holder } => moved(holder),
    }
}
