//! Where the last line stands: whose it was and what it was.
//!
//! Owns blank lines between unlike things and the question whether a result follows its call at once. Knows no words.

use super::Speaker;

/// What lines are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A text of the agent; the first lines of one.
    Text,
    /// More lines of the same text.
    More,
    /// The headline of a call.
    Call(String),
    /// The result of a call.
    Result(String),
    Notice,
    /// The end of a turn.
    End,
}

#[derive(Debug, Default)]
pub(super) struct Place {
    last: Option<Kind>,
    /// The call whose headline is above, with nothing but notices below it.
    call: Option<String>,
    speaker: Speaker,
    depth: usize,
}

impl Place {
    /// Whether a blank line is due before lines of this kind.
    pub(super) fn gap(&self, kind: &Kind, depth: usize) -> bool {
        let Some(last) = &self.last else { return false };
        if depth > 0 {
            return self.depth == 0 && matches!(last, Kind::Text | Kind::More | Kind::End);
        }
        let is_text = |kind: &Kind| matches!(kind, Kind::Text | Kind::More);
        match kind {
            Kind::Text => true,
            Kind::More => self.depth > 0 || !is_text(last),
            Kind::End => !matches!(last, Kind::Notice),
            Kind::Call(_) | Kind::Notice => {
                self.depth == 0 && (is_text(last) || *last == Kind::End)
            }
            Kind::Result(_) => self.depth == 0 && is_text(last),
        }
    }

    pub(super) fn wants_gap_before_text(&self) -> bool {
        self.last.is_some()
    }

    /// Whether lines of this sub-agent follow its own lines, or the call that started it.
    pub(super) fn is_with(&self, speaker: &str) -> bool {
        let is_own = self.speaker.as_deref() == Some(speaker);
        is_own && self.last.is_some() || self.is_at_call(speaker)
    }

    /// Whether nothing but notices stands between the headline of this call and here.
    pub(super) fn is_at_call(&self, id: &str) -> bool {
        self.call.as_deref() == Some(id)
    }

    pub(super) fn moved(&mut self, kind: Kind, speaker: &Speaker, depth: usize) {
        match &kind {
            Kind::Call(id) => self.call = Some(id.clone()),
            Kind::Notice => {}
            _ => self.call = None,
        }
        self.last = Some(kind);
        self.speaker.clone_from(speaker);
        self.depth = depth;
    }

    /// Lines of somebody else came in between.
    pub(super) fn forget(&mut self) {
        self.last = Some(Kind::Notice);
        self.call = None;
        self.speaker = None;
        self.depth = 0;
    }
}
