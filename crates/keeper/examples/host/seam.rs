//! What the host knows of whoever looks on: the points that it passes, and one question.
//!
//! Owns the seam between the host and the suite that plays deaths around it. [`Seam::at`] is called in the very moment a
//! point is reached, by whoever reached it; it need not return.

use countersign_client::Json;
use countersign_keeper::attach::PutOutcome;
use countersign_keeper::protocol::Standing;

/// Where a host is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'a> {
    /// A line that an earlier host may have handed in was handed in again.
    HandedInAgain(u64, &'a PutOutcome),
    /// The session is taken over, as it stands; with the flag by which its agent began, if this host started it.
    Attached(&'a Standing, Option<&'static str>),
    /// The agent said this line.
    Heard(&'a [u8]),
    /// A question has come.
    Asked(&'a str),
    /// It stays open.
    Held,
    /// The decision is on the disk, and the keeper has not heard of it.
    Decided(&'a str),
    /// The keeper says what became of the answer.
    Answered(&'a str, &'a PutOutcome),
}

/// Who looks on at one session.
pub(crate) trait Seam: Send + Sync + 'static {
    /// The host has come to this point.
    fn at(&self, point: At<'_>);

    /// Whether a call may run, and what is noted of that. `None` leaves the question open.
    fn decide(&self) -> Option<(bool, Json)>;
}
