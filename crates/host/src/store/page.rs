//! Where a page ended.
//!
//! Owns the cursors of lists: text that only the host reads. Invariant: a cursor names a place by the values it is sorted
//! by, so that nothing is passed over or told twice when rows come and go in between.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;
use crate::control::Page;

/// How many a page has, where nothing is said.
const USUAL: usize = 50;

/// How many it has at most.
const MOST: usize = 500;

/// How many are meant by what a client says.
pub(crate) fn size(most: usize) -> usize {
    match most {
        0 => USUAL,
        most => most.min(MOST),
    }
}

/// The place as text that says nothing to others.
pub(super) fn cursor(place: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(place).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The place that a cursor names.
pub(super) fn place<T: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<T>, StoreError> {
    let Some(text) = cursor else {
        return Ok(None);
    };
    let digit = |letter: u8| char::from(letter).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    let place = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    place.map(Some).ok_or_else(|| {
        StoreError::Invalid("`after` is no place in this list: use `next` of a page".to_owned())
    })
}

/// A page of what was read: one more than wanted tells that there are more.
pub(super) fn page<T, P: Serialize>(
    mut items: Vec<T>,
    size: usize,
    place: impl Fn(&T) -> P,
) -> Page<T> {
    let has_more = items.len() > size;
    items.truncate(size);
    let last = items.last().filter(|_| has_more);
    Page {
        next: last.map(|last| cursor(&place(last))),
        items,
    }
}
