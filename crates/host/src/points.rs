//! The points that work on a session passes, told as traces.
//!
//! Owns their one target, so that whoever follows a host closely can tell where it is: a fault suite that ends it there,
//! or a person who looks for what takes long. Nothing depends on whether anybody listens.

/// Tells that a point was passed.
pub(crate) fn passed(point: &'static str) {
    tracing::trace!(target: "countersign_host::point", point);
}
