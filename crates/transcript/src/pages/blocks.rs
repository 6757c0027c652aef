//! The list of blocks, in parts.
//!
//! Owns how it is kept: a part is full before the next one begins, so that the end of a block rewrites one or two parts and not
//! the list of a whole session. Invariant: whatever of it was stored when a crash came, what is read back is a beginning of the
//! list.

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use super::shelf::{Key, Shelf, ShelfError};
use crate::id::cursor;

/// The version of what is on the shelf.
const VERSION: u32 = 2;

/// Blocks in a part.
const PART: usize = 256;

/// A part of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Block {
    /// The last record before it.
    #[serde(with = "cursor")]
    pub(super) after: Cursor,
    /// Records in it.
    pub(super) records: u32,
    /// Entries that began in it.
    pub(super) entries: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Part {
    version: u32,
    blocks: Vec<Block>,
}

pub(super) fn first_block() -> Block {
    Block {
        after: Cursor::START,
        records: 0,
        entries: 0,
    }
}

/// The list as far as it can be read. Never empty.
pub(super) fn load(shelf: &impl Shelf) -> Result<Vec<Block>, ShelfError> {
    let mut blocks: Vec<Block> = Vec::new();
    for number in 0.. {
        let bytes = shelf.get(Key::Blocks(number))?;
        let part = bytes.and_then(|bytes| serde_json::from_slice::<Part>(&bytes).ok());
        let part = part.filter(|part| part.version == VERSION);
        let found = part.unwrap_or_default().blocks;
        let is_last = found.len() < PART;
        for block in found {
            // What is left of a longer list is not of this one.
            if blocks.last().is_some_and(|last| last.after >= block.after) {
                return Ok(blocks);
            }
            blocks.push(block);
        }
        if is_last {
            break;
        }
    }
    if blocks.is_empty() {
        blocks.push(first_block());
    }
    Ok(blocks)
}

/// Stores what the end of a block changes: the parts with the last two. The later part goes first, so that the earlier one
/// never leads to what is not there yet.
pub(super) fn store(shelf: &mut impl Shelf, blocks: &[Block]) -> Result<(), ShelfError> {
    let last = blocks.len().saturating_sub(1) / PART;
    let from = blocks.len().saturating_sub(2) / PART;
    let is_full = blocks.len().is_multiple_of(PART);
    for number in (from..=last + usize::from(is_full)).rev() {
        let begin = (number * PART).min(blocks.len());
        let end = (begin + PART).min(blocks.len());
        let part = Part {
            version: VERSION,
            blocks: blocks[begin..end].to_vec(),
        };
        let bytes = serde_json::to_vec(&part)?;
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        shelf.put(Key::Blocks(number), &bytes)?;
    }
    Ok(())
}
