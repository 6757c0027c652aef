//! Which part of an input is wanted: after one record, up to another, one generation.

use anyhow::bail;
use countersign_journal::Cursor;

use super::source::{Item, Source};

/// A part of an input.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Range {
    /// Only what stands after this record (`generation-number`, such as `1-42`)
    #[arg(long, value_name = "CURSOR")]
    pub(crate) from: Option<Cursor>,
    /// Only what stands up to this record, itself included
    #[arg(long, value_name = "CURSOR")]
    pub(crate) until: Option<Cursor>,
    /// Only this generation: one run of the agent, counted from 1
    #[arg(long, value_name = "G")]
    pub(crate) generation: Option<u32>,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Before,
    Inside,
    /// Nothing that follows is wanted.
    After,
}

impl Range {
    /// Refuses a part in which nothing can be. Standard input is taken as it comes: it can be read once only.
    pub(crate) fn check(&self, source: &Source) -> anyhow::Result<()> {
        if let (Some(from), Some(until)) = (self.from, self.until)
            && from >= until
        {
            bail!("nothing stands after {from} and up to {until}: --from must be before --until");
        }
        let Some(wanted) = self.generation else {
            return Ok(());
        };
        let Ok(mut again) = source.again() else {
            return Ok(());
        };
        let mut last = 0;
        while let Some(item) = again.next()? {
            if let Item::Record(generation, _) = item {
                if generation == wanted {
                    return Ok(());
                }
                last = generation;
            }
        }
        bail!("there is no generation {wanted}: the last is {last}");
    }

    pub(crate) fn place(&self, cursor: Cursor) -> Place {
        let generation = self.generation.unwrap_or(cursor.generation);
        if cursor.generation > generation || self.until.is_some_and(|until| cursor > until) {
            return Place::After;
        }
        let is_before = self.from.is_some_and(|from| cursor <= from);
        match is_before || cursor.generation < generation {
            true => Place::Before,
            false => Place::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(range: &Range) -> Vec<Place> {
        let cursors = [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5)];
        let cursors = cursors.map(|(generation, seq)| Cursor::new(generation, seq));
        cursors
            .into_iter()
            .map(|cursor| range.place(cursor))
            .collect()
    }

    #[test]
    fn a_part_begins_after_one_record_and_ends_with_another() {
        use Place::{After, Before, Inside};
        assert_eq!(places(&Range::default()), [Inside; 5]);
        let range = Range {
            from: Some(Cursor::new(1, 1)),
            until: Some(Cursor::new(2, 3)),
            generation: None,
        };
        assert_eq!(places(&range), [Before, Inside, Inside, After, After]);
        let range = Range {
            generation: Some(2),
            ..Range::default()
        };
        assert_eq!(places(&range), [Before, Before, Inside, Inside, After]);
    }
}
