//! Which turn of the scenario a user message sets off.
//!
//! Owns the counts of turns that were played, also by an earlier process of the same conversation.

use super::Engine;
use crate::cli::scenario::{Habit, Step, When};

impl Engine {
    /// Chooses the block for a user message. The turns that a resumed conversation has had are passed first, where the
    /// scenario goes on behind them.
    pub(super) fn choose_block(&mut self, prompt: &str) -> Option<usize> {
        if !self.does(Habit::Restart) {
            for had in std::mem::take(&mut self.had) {
                self.pass(&had);
            }
        }
        self.take_block(prompt)
    }

    /// Counts the turn of this prompt as played, and what it would have skipped.
    fn pass(&mut self, prompt: &str) {
        let Some(block) = self.take_block(prompt) else {
            return;
        };
        let steps = self.scenario.blocks[block].steps.clone();
        for step in steps.iter() {
            if let Step::Skip(count) = step {
                self.skip(*count);
            }
        }
    }

    /// The first turns of the file count as played, without those for certain words.
    pub(super) fn skip(&mut self, count: u32) {
        let mut left = count;
        for (block, used) in self.scenario.blocks.iter().zip(&mut self.used) {
            if left == 0 {
                break;
            }
            if let When::Turn {
                uses,
                contains: None,
            } = &block.when
            {
                left -= 1;
                *used = uses.unwrap_or(*used);
            }
        }
    }

    /// Takes the next block in the file that wants this message.
    fn take_block(&mut self, prompt: &str) -> Option<usize> {
        let wanted = |index: &usize| match &self.scenario.blocks[*index].when {
            When::Turn { uses, contains } => {
                uses.is_none_or(|times| self.used[*index] < times)
                    && contains.as_ref().is_none_or(|text| prompt.contains(text))
            }
            _ => false,
        };
        let conditional = |index: &usize| {
            matches!(
                &self.scenario.blocks[*index].when,
                When::Turn {
                    contains: Some(_),
                    ..
                }
            )
        };
        let mut candidates = (0..self.scenario.blocks.len()).filter(wanted);
        let chosen = candidates
            .clone()
            .find(conditional)
            .or_else(|| candidates.next())?;
        self.used[chosen] += 1;
        Some(chosen)
    }
}
