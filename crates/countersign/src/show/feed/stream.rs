//! The block a model is writing, piece by piece.
//!
//! Owns the open block of one speaker and what of its message was shown already, so that the whole line that follows the
//! pieces is not shown again, whichever of the two comes first.

use std::time::Duration;

use crate::show::markdown::Markdown;
use crate::show::{gutter, text};
use crate::term::style::{Line, Tone};

/// The most of one text that is shown.
pub(super) const TEXT_CAP: usize = 200 << 10;
/// The most of one thinking that is kept.
const THINKING_CAP: usize = 64 << 10;

/// What one speaker is writing.
#[derive(Debug, Default)]
pub(super) struct Stream {
    message: Option<String>,
    block: Option<Block>,
    /// Blocks of this message that were shown from pieces and have not come as a whole.
    done: Vec<(Sort, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sort {
    Text,
    Thinking,
    Tool,
}

#[derive(Debug)]
struct Block {
    sort: Sort,
    since: Duration,
    /// Bytes of its text that came.
    seen: usize,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text {
        markdown: Markdown,
        has_shown: bool,
        left: usize,
    },
    Thinking(String),
    Tool(String),
}

/// What is shown of a piece, or at the end of a block.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) lines: Vec<Line>,
    /// They are the first of their text.
    pub(super) is_first: bool,
    /// A thinking that ended: its text and when it began.
    pub(super) thought: Option<(String, Option<Duration>)>,
}

impl Stream {
    /// A message begins. What of the last one was left open comes back.
    pub(super) fn begin(&mut self, message: Option<&str>) -> Piece {
        let rest = self.close(None);
        self.message = message.map(str::to_owned);
        self.done.clear();
        rest
    }

    pub(super) fn open(&mut self, sort: Sort, name: &str, room: usize, now: Duration) -> Piece {
        let rest = self.close(None);
        let body = match sort {
            Sort::Text => Body::Text {
                markdown: Markdown::new(room),
                has_shown: false,
                left: 0,
            },
            Sort::Thinking => Body::Thinking(String::new()),
            Sort::Tool => Body::Tool(text::one_row(name, 60)),
        };
        self.block = Some(Block {
            sort,
            since: now,
            seen: 0,
            body,
        });
        rest
    }

    /// The next piece of a text.
    pub(super) fn text(&mut self, words: &str) -> Piece {
        match &mut self.block {
            Some(block) => block.text(words),
            None => Piece::default(),
        }
    }

    pub(super) fn thinking(&mut self, words: &str) {
        if let Some(Block {
            body: Body::Thinking(text),
            seen,
            ..
        }) = &mut self.block
        {
            *seen += words.len();
            text.push_str(text::clip(words, THINKING_CAP.saturating_sub(text.len())).0);
        }
    }

    pub(super) fn input(&mut self, bytes: usize) {
        if let Some(block) = &mut self.block {
            block.seen += bytes;
        }
    }

    /// The block is over. It was not seen as a whole yet.
    pub(super) fn stop(&mut self) -> Piece {
        if let Some(block) = &self.block {
            self.done.push((block.sort, block.seen));
        }
        self.close(None)
    }

    /// A whole block of `message` came: what of it was not shown from pieces. Nothing if it was never seen in pieces.
    pub(super) fn whole(
        &mut self,
        message: Option<&str>,
        sort: Sort,
        words: &str,
    ) -> Option<Piece> {
        if self.message.as_deref() != message || message.is_none() {
            return None;
        }
        if self.block.as_ref().is_some_and(|block| block.sort == sort) {
            return Some(self.close(Some(words)));
        }
        let at = self.done.iter().position(|(other, seen)| {
            *other == sort && (sort != Sort::Text || *seen == words.len())
        })?;
        self.done.remove(at);
        Some(Piece::default())
    }

    /// Ends the open block; `words` is all of it, where that is known.
    pub(super) fn close(&mut self, words: Option<&str>) -> Piece {
        let Some(mut block) = self.block.take() else {
            return Piece::default();
        };
        let rest = words
            .and_then(|words| words.get(block.seen..))
            .unwrap_or_default();
        let mut piece = block.text(rest);
        match block.body {
            Body::Text {
                mut markdown,
                has_shown,
                left,
            } => {
                let mut last = markdown.finish();
                if left > 0 {
                    last.push(Line::of(format!("… {} more", text::size(left)), Tone::Dim));
                }
                piece.is_first |= !has_shown && !last.is_empty();
                piece.lines.extend(last.into_iter().map(gutter::said));
            }
            Body::Thinking(text) => {
                let text = words.map_or(text, |words| text::clip(words, THINKING_CAP).0.to_owned());
                piece.thought = Some((text, Some(block.since)));
            }
            Body::Tool(_) => {}
        }
        piece
    }

    pub(super) fn resized(&mut self, room: usize) {
        if let Some(Block {
            body: Body::Text { markdown, .. },
            ..
        }) = &mut self.block
        {
            markdown.resized(room);
        }
    }

    /// What is not final.
    pub(super) fn tail(&self, room: usize) -> Vec<Line> {
        match self.block.as_ref().map(|block| &block.body) {
            Some(Body::Text { markdown, .. }) => {
                markdown.tail().into_iter().map(gutter::said).collect()
            }
            Some(Body::Thinking(words)) => {
                let words = text::one_row(text::last_part(words.trim_end(), room), room);
                vec![
                    Line::of(format!("Thinking  {words}"), Tone::Dim)
                        .after(gutter::NOTICE, Tone::Dim)
                        .cut(room),
                ]
            }
            Some(Body::Tool(name)) => {
                vec![Line::of(format!("{name} …"), Tone::Dim).after(gutter::CALL, Tone::Dim)]
            }
            None => Vec::new(),
        }
    }

    /// What is being written, and since when.
    pub(super) fn doing(&self) -> Option<(Sort, Duration)> {
        self.block.as_ref().map(|block| (block.sort, block.since))
    }

    /// Gives out what has come of a text; its rest may follow.
    pub(super) fn pause(&mut self) -> Piece {
        let Some(Block {
            body:
                Body::Text {
                    markdown,
                    has_shown,
                    ..
                },
            ..
        }) = &mut self.block
        else {
            return Piece::default();
        };
        let lines: Vec<Line> = markdown.finish().into_iter().map(gutter::said).collect();
        let is_first = !lines.is_empty() && !std::mem::replace(has_shown, true);
        Piece {
            lines,
            is_first,
            thought: None,
        }
    }
}

impl Block {
    fn text(&mut self, words: &str) -> Piece {
        let Body::Text {
            markdown,
            has_shown,
            left,
        } = &mut self.body
        else {
            return Piece::default();
        };
        let (shown, over) = text::clip(words, TEXT_CAP.saturating_sub(self.seen));
        self.seen += words.len();
        *left += over;
        let lines: Vec<Line> = markdown.push(shown).into_iter().map(gutter::said).collect();
        let is_first =
            !lines.is_empty() && !std::mem::replace(has_shown, *has_shown || !lines.is_empty());
        Piece {
            lines,
            is_first,
            thought: None,
        }
    }
}
