//! A long session, read backwards, a page at a time.
//!
//! Owns [`Pages`]: a journal cut into blocks, each with the checkpoint in front of it. A page folds the blocks its entries
//! began in, and no others. What began in a block and ended behind it is put on the shelf when it ends, so a page shows
//! every entry as it is today. Everything on the shelf is derived: thrown away, it is made again from the journal.
//! Invariant: the pages of a session, put together, are its fold in one go.

mod blocks;
mod records;
mod shelf;

use std::cell::Cell;

use countersign_journal::{Cursor, ReadError, Reader};

use crate::changes::{Change, Changes, Entries};
use crate::entry::{Entry, Life};
use crate::fold::{Checkpoint, Fold};
use crate::id::EntryId;
use crate::totals::Totals;

use blocks::{Block, first_block};
use records::{Next, Records};
pub use shelf::{Key, Memory, Shelf, ShelfError};

/// A page is cut short rather than to fold more records than this, once it has an entry: a long answer that comes in small
/// pieces has thousands of records in one.
const PAGE_RECORDS: u32 = 16_384;

/// How long a block is: until it has so many records, or so many entries began in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    /// Records.
    pub records: u32,
    /// Entries.
    pub entries: u32,
}

impl Default for Every {
    fn default() -> Self {
        Self {
            records: 2048,
            entries: 64,
        }
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] ReadError),
    /// The shelf cannot be read or written.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// The reader leaves long records out.
    #[error(
        "record {0} was left out as too long: open the reader without a limit on what is inline"
    )]
    Large(Cursor),
}

/// Some entries that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Oldest first.
    pub entries: Vec<Entry>,
    /// What to ask for next: the entries before this one. None if there are none.
    pub older: Option<EntryId>,
}

/// A session in pages.
#[derive(Debug)]
pub struct Pages<S> {
    shelf: S,
    every: Every,
    /// Never empty.
    blocks: Vec<Block>,
    head: Fold,
    folded: Cell<u64>,
}

impl<S: Shelf> Pages<S> {
    /// Takes up what is on the shelf, or begins anew. The journal is read by [`Pages::catch_up`].
    ///
    /// # Errors
    /// When the shelf cannot be read.
    pub fn open(shelf: S, every: Every) -> Result<Self, PageError> {
        let mut pages = Self {
            shelf,
            every,
            blocks: vec![first_block()],
            head: Fold::new(),
            folded: Cell::new(0),
        };
        pages.blocks = blocks::load(&pages.shelf)?;
        pages.back_to_last_checkpoint()?;
        Ok(pages)
    }

    /// The shelf again.
    pub fn into_shelf(self) -> S {
        self.shelf
    }

    /// The last record that was folded.
    pub fn cursor(&self) -> Cursor {
        self.head.cursor()
    }

    /// The sums up to there.
    pub fn totals(&self) -> &Totals {
        self.head.totals()
    }

    /// How many records were folded since it was opened: what it costs.
    pub fn folded(&self) -> u64 {
        self.folded.get()
    }

    fn count(&self) {
        self.folded.set(self.folded.get() + 1);
    }

    /// The fold up to there, to follow the journal from.
    pub fn fold(&self) -> &Fold {
        &self.head
    }

    /// The fold behind a record, from the checkpoint in front of it: to go on from there. Where the journal does not reach so
    /// far, the fold of what there is.
    ///
    /// # Errors
    /// When the journal or the shelf fails.
    pub fn fold_behind(&self, reader: &mut Reader, record: Cursor) -> Result<Fold, PageError> {
        if record == self.head.cursor() {
            return Ok(self.head.clone());
        }
        let before = self.blocks.partition_point(|block| block.after <= record);
        let mut fold = self.nearest_checkpoint(before.saturating_sub(1))?;
        let mut records = Records::after(reader, fold.cursor())?;
        while fold.cursor() < record {
            match records.next()? {
                Next::Record(generation, next) if Cursor::new(generation, next.seq) <= record => {
                    self.count();
                    fold.step(generation, &next);
                }
                _ => break,
            }
        }
        Ok(fold)
    }

    /// The first record that was written later than this moment (microseconds of Unix time), as the entry that would begin
    /// with it; none if all that was folded is earlier. It costs a look into a few blocks and one block.
    ///
    /// # Errors
    /// When the journal fails.
    pub fn first_later(&self, reader: &mut Reader, at: u64) -> Result<Option<EntryId>, PageError> {
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low.midpoint(high);
            let mut records = Records::after(reader, self.blocks[middle].after)?;
            let is_earlier = match records.next()? {
                Next::Record(_, record) => record.at <= at,
                Next::End | Next::Rewound(_) => false,
            };
            match is_earlier {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let begin = self.blocks[low.saturating_sub(1)].after;
        let mut records = Records::after(reader, begin)?;
        while let Next::Record(generation, record) = records.next()? {
            let here = Cursor::new(generation, record.seq);
            if here > self.head.cursor() {
                break;
            }
            if record.at > at {
                return Ok(Some(EntryId::new(here, 0)));
            }
        }
        Ok(None)
    }

    /// Folds what the journal has more.
    ///
    /// # Errors
    /// When the journal or the shelf fails.
    pub fn catch_up(&mut self, reader: &mut Reader) -> Result<(), PageError> {
        let mut records = Records::after(reader, self.head.cursor())?;
        loop {
            match records.next()? {
                Next::Record(generation, record) => {
                    self.count();
                    let changes = self.head.step(generation, &record);
                    self.take(changes)?;
                }
                Next::Rewound(to) => {
                    self.rewind(to)?;
                    records.seek(self.head.cursor())?;
                }
                Next::End => return Ok(()),
            }
        }
    }

    /// The newest entries.
    ///
    /// # Errors
    /// When the journal or the shelf fails.
    pub fn newest(&self, reader: &mut Reader, most: usize) -> Result<Page, PageError> {
        self.page(reader, None, most)
    }

    /// The entries before that one.
    ///
    /// # Errors
    /// When the journal or the shelf fails.
    pub fn before(&self, reader: &mut Reader, id: EntryId, most: usize) -> Result<Page, PageError> {
        self.page(reader, Some(id), most)
    }

    fn page(
        &self,
        reader: &mut Reader,
        before: Option<EntryId>,
        most: usize,
    ) -> Result<Page, PageError> {
        let mut entries: Vec<Entry> = Vec::new();
        let newest = match before {
            Some(id) => self.block_of(id.cursor()),
            None => self.blocks.len() - 1,
        };
        let mut has_older = false;
        let mut records = 0_u32;
        for at in (0..=newest).rev() {
            if self.blocks[at].entries == 0 {
                continue;
            }
            let is_long = records.saturating_add(self.blocks[at].records) > PAGE_RECORDS;
            if entries.len() >= most || (is_long && !entries.is_empty()) {
                has_older = true;
                break;
            }
            records = records.saturating_add(self.blocks[at].records);
            let mut block = self.read(reader, at)?;
            block.retain(|entry| before.is_none_or(|before| entry.id < before));
            let wanted = most - entries.len();
            let left = block.len().saturating_sub(wanted);
            has_older = left > 0;
            block.drain(..left);
            block.append(&mut entries);
            entries = block;
        }
        let oldest = entries.first().map(|entry| entry.id);
        Ok(Page {
            older: oldest.filter(|_| has_older),
            entries,
        })
    }

    /// The entries that began in a block, as they are today.
    fn read(&self, reader: &mut Reader, at: usize) -> Result<Vec<Entry>, PageError> {
        let block = self.blocks[at];
        let end = match self.blocks.get(at + 1) {
            Some(next) => next.after,
            None => self.head.cursor(),
        };
        let mut fold = self.nearest_checkpoint(at)?;
        let mut entries = Entries::default();
        let is_ours = |id: EntryId| id.cursor() > block.after && id.cursor() <= end;
        let mut records = Records::after(reader, fold.cursor())?;
        while fold.cursor() < end {
            match records.next()? {
                Next::Record(generation, record) => {
                    self.count();
                    let mut changes = fold.step(generation, &record);
                    changes.entries.retain(|change| is_ours(change.id()));
                    entries.apply(changes);
                }
                Next::End | Next::Rewound(_) => break,
            }
        }
        for late in self.late(block.after)? {
            if is_ours(late.id) {
                entries.put(late);
            }
        }
        for open in self.head.open_entries() {
            if is_ours(open.id) {
                entries.put(open.clone());
            }
        }
        Ok(entries.into_vec())
    }

    fn checkpoint(&self, after: Cursor) -> Result<Fold, PageError> {
        if after == Cursor::START {
            return Ok(Fold::new());
        }
        let key = Key::Fold(after);
        let bytes = self.shelf.get(key)?.unwrap_or_default();
        let checkpoint: Option<Checkpoint> = serde_json::from_slice(&bytes).ok();
        let fold = checkpoint.and_then(|checkpoint| Fold::resume(checkpoint).ok());
        Ok(fold.ok_or_else(|| ShelfError::missing(key))?)
    }

    /// The checkpoint in front of a block; if it was lost, an earlier one.
    fn nearest_checkpoint(&self, at: usize) -> Result<Fold, PageError> {
        for block in self.blocks[..=at].iter().rev() {
            match self.checkpoint(block.after) {
                Err(PageError::Shelf(error)) if error.is_missing() => {}
                found => return found,
            }
        }
        Ok(Fold::new())
    }

    /// What began in the block behind `after` and ended behind that block.
    fn late(&self, after: Cursor) -> Result<Vec<Entry>, PageError> {
        let bytes = self.shelf.get(Key::Late(after))?;
        let entries = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(entries.unwrap_or_default())
    }

    /// Nothing ends behind the last block: what is on the shelf of it is of records that are gone, or will come again.
    fn forget_late(&mut self, after: Cursor) -> Result<(), PageError> {
        if !self.late(after)?.is_empty() {
            self.shelf.put(Key::Late(after), b"[]")?;
        }
        Ok(())
    }

    /// The block in which a record stands.
    fn block_of(&self, record: Cursor) -> usize {
        let behind = self.blocks.partition_point(|block| block.after < record);
        behind.saturating_sub(1)
    }

    /// Notes what a record changed, and ends the block if it is long enough.
    fn take(&mut self, changes: Changes) -> Result<(), PageError> {
        let last = self.blocks.len() - 1;
        let here = changes.cursor;
        for change in changes.entries {
            let Change::Put(entry) = change else {
                continue;
            };
            if entry.id.cursor() == here {
                self.blocks[last].entries += 1;
            } else if entry.life != Life::Open {
                self.ended_late(*entry)?;
            }
        }
        let block = &mut self.blocks[last];
        block.records += 1;
        if block.records >= self.every.records || block.entries >= self.every.entries {
            self.end_block()?;
        }
        Ok(())
    }

    fn ended_late(&mut self, entry: Entry) -> Result<(), PageError> {
        let at = self.block_of(entry.id.cursor());
        if at + 1 == self.blocks.len() {
            return Ok(());
        }
        let after = self.blocks[at].after;
        let mut entries = self.late(after)?;
        entries.retain(|late| late.id != entry.id);
        entries.push(entry);
        let bytes = serde_json::to_vec(&entries).map_err(ShelfError::from)?;
        self.shelf.put(Key::Late(after), &bytes)?;
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), PageError> {
        let after = self.head.cursor();
        let bytes = serde_json::to_vec(&self.head.checkpoint()).map_err(ShelfError::from)?;
        self.shelf.put(Key::Fold(after), &bytes)?;
        self.forget_late(after)?;
        self.blocks.push(Block {
            after,
            records: 0,
            entries: 0,
        });
        self.store_blocks()
    }

    fn store_blocks(&mut self) -> Result<(), PageError> {
        Ok(blocks::store(&mut self.shelf, &self.blocks)?)
    }

    /// The records behind `to` are gone.
    fn rewind(&mut self, to: Cursor) -> Result<(), PageError> {
        while self.blocks.len() > 1 && self.blocks.last().is_some_and(|block| block.after > to) {
            self.blocks.pop();
        }
        self.back_to_last_checkpoint()?;
        self.store_blocks()
    }

    /// Goes on from the last checkpoint that is there; what lies behind it is folded again.
    fn back_to_last_checkpoint(&mut self) -> Result<(), PageError> {
        loop {
            let Some(last) = self.blocks.last_mut() else {
                self.blocks.push(first_block());
                continue;
            };
            last.records = 0;
            last.entries = 0;
            let after = last.after;
            match self.checkpoint(after) {
                Ok(fold) => {
                    self.head = fold;
                    return self.forget_late(after);
                }
                Err(PageError::Shelf(error)) if error.is_missing() => {
                    self.blocks.pop();
                }
                Err(error) => return Err(error),
            }
        }
    }
}
