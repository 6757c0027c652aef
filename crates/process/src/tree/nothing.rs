//! Systems without Unix processes: nobody is listed, so nobody but the child itself can be ended.

use std::io;

use super::{Delivery, Entry, Holds, Signal};
use crate::Marker;

pub(super) fn list() -> io::Result<Vec<Entry>> {
    Ok(Vec::new())
}

pub(super) fn look(_: u32) -> Option<Entry> {
    None
}

pub(super) fn try_look(_: u32) -> io::Result<Option<Entry>> {
    Ok(None)
}

pub(super) fn bears(_: u32, _: &Marker) -> bool {
    false
}

pub(super) fn environ(_: u32) -> Option<Vec<u8>> {
    None
}

pub(super) fn tables() -> io::Result<Vec<String>> {
    Ok(Vec::new())
}

pub(super) fn has_socket(_: u32, _: u64) -> io::Result<Holds> {
    Ok(Holds::Hidden)
}

pub(super) fn uid(_: u32) -> io::Result<Option<u32>> {
    Ok(None)
}

pub(super) fn arguments(_: u32) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

pub(super) fn try_environ(_: u32) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

pub(super) fn limit(_: u32) -> io::Result<Option<u64>> {
    Ok(None)
}

pub(super) fn limit_of_anyone(_: u32) -> io::Result<Option<u64>> {
    Ok(None)
}

pub(super) fn own_limit() -> Option<u64> {
    None
}

pub(super) fn is_stopped(_: u32) -> io::Result<bool> {
    Ok(false)
}

pub(super) fn deliver(_: u32, _: Signal, _: impl FnOnce() -> bool) -> Delivery {
    Delivery::Gone
}
