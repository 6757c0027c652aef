//! The content of a Bash rule, and which commands it means.
//!
//! Owns the three forms `npm run test` (exactly this), `npm run test:*` and `npm run test *` (these words, then anything)
//! and `*` elsewhere (any run of characters within one command). Words are compared with words, never a text with the
//! beginning of another. Invariant: for [`Side::Allow`] the answer is `Yes` only where nothing is left to guess; for
//! [`Side::Restrict`] it is `No` only where nothing could be meant.

use super::candidates;
use super::cover::{Mark, covers, may_cover};
use super::lex::{self, Kind};
use super::{Simple, Word, hide};
use crate::fit::Fit;

/// What a rule does, which decides who bears the doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It allows: a doubt means no.
    Allow,
    /// It denies or asks: a doubt means maybe.
    Restrict,
}

/// Which commands a Bash rule means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The words, each with its stars.
    words: Vec<PatternWord>,
    /// Whether anything may follow.
    tail: Tail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PatternWord {
    marks: Vec<Mark>,
    /// Whether it has a star.
    is_open: bool,
    /// Whether it has a star that was quoted or stands before `:*`, which is none for allowing.
    is_literal_star: bool,
    /// Whether its value is known only when it runs.
    is_unknown: bool,
}

/// What may follow the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Nothing,
    /// Any words, or none.
    Any,
    /// Any words, for allowing at least one: ` *` after another star.
    Some,
}

impl CommandPattern {
    /// Reads the content of a Bash rule.
    pub fn parse(content: &str) -> Result<Self, String> {
        let content = content.trim();
        let (head, tail) = match (content.strip_suffix(":*"), content.strip_suffix(" *")) {
            (Some(head), _) => (head, Tail::Any),
            (None, Some(head)) => (
                head,
                if head.contains('*') {
                    Tail::Some
                } else {
                    Tail::Any
                },
            ),
            (None, None) => (content, Tail::Nothing),
        };
        let is_prefix = content.ends_with(":*");
        if head.trim().is_empty() {
            return Err("it names no command; write `Bash` to mean all of them".to_owned());
        }
        let (tokens, problems) =
            lex::lex(head).map_err(|why| format!("{why}; write one plain command"))?;
        if let Some(problem) = problems.first() {
            return Err(format!("{problem}; write one plain command"));
        }
        let mut words = Vec::new();
        let mut end = 0;
        for token in tokens {
            end = token.span.end;
            match token.kind {
                Kind::Word(piece) => words.push(PatternWord::new(&piece.word, is_prefix)),
                _ => {
                    return Err(format!(
                        "`{}` joins or redirects commands; write a rule for each command alone",
                        head[token.span].escape_debug()
                    ));
                }
            }
        }
        if end < head.trim_end().len() {
            return Err("it has a comment; put the `#` in quotes".to_owned());
        }
        Ok(Self { words, tail })
    }

    /// Whether it means a command.
    pub fn fits(&self, simple: &Simple, side: Side) -> Fit {
        match side {
            Side::Allow => Fit::certain(self.allows(simple)),
            Side::Restrict => self.restricts(simple),
        }
    }

    /// The words as they stand, or with a wrapper on that the rule spells out.
    fn allows(&self, simple: &Simple) -> bool {
        if self
            .words
            .iter()
            .any(|word| word.is_unknown || word.is_literal_star)
        {
            return false;
        }
        let spelled = self.words.iter().take_while(|word| !word.is_open).count();
        let pattern = self.marks(Side::Allow);
        let means = |words: &[Word]| {
            words[0].literal().is_some() && covers(&pattern, &candidates::pieces(words))
        };
        let inner = simple.obstacle.is_none()
            && means(&simple.words)
            && self.spells_what_hides(&simple.words, spelled);
        inner
            || simple.outer.iter().any(|outer| {
                let of_inner = (spelled + 1).saturating_sub(outer.named);
                outer.obstacle.is_none()
                    && spelled >= outer.named
                    && means(&outer.words)
                    && (outer.runs_text || self.spells_what_hides(&simple.words, of_inner))
            })
    }

    /// How many of the first words of a command it spells out. Behind a wrapper that it spells, its command alone counts.
    pub(crate) fn spells(&self, simple: &Simple) -> usize {
        let spelled = self.words.iter().take_while(|word| !word.is_open).count();
        if self.tail == Tail::Nothing && spelled == self.words.len() {
            return simple.words.len();
        }
        let mut first = self.words[0].marks.clone();
        first.push(Mark::End);
        let is_own = covers(&first, &candidates::pieces(&simple.words[..1]));
        match is_own {
            true => spelled.min(simple.words.len()),
            false => 1,
        }
    }

    /// Whether nothing hides in the command beside what the rule spells out: `Bash(git:*)` does not mean `git -c …`.
    fn spells_what_hides(&self, words: &[Word], spelled: usize) -> bool {
        let is_whole = self.tail == Tail::Nothing && spelled == self.words.len();
        is_whole || !hide::is_behind(words, spelled)
    }

    fn restricts(&self, simple: &Simple) -> Fit {
        let pattern = self.marks(Side::Restrict);
        let is_vague = self.words.iter().any(|word| word.is_unknown);
        let candidates = candidates::of(simple);
        if !is_vague
            && candidates
                .iter()
                .any(|words| covers(&pattern, &candidates::pieces(words)))
        {
            return Fit::Yes;
        }
        if let Some(why) = &simple.hides {
            return Fit::Maybe(why.clone());
        }
        let why = |words: &[Word]| match words.iter().find(|word| word.literal().is_none()) {
            Some(word) => format!("`{}` is known only when it runs", word.shown()),
            None => "the rule names something that is known only when it runs".to_owned(),
        };
        let may = candidates
            .iter()
            .find(|words| may_cover(&pattern, &candidates::pieces(words)));
        if let Some(words) = may {
            return Fit::Maybe(why(words));
        }
        let is_other_case = |words: &Vec<Word>| {
            candidates::in_small_letters(words)
                .is_some_and(|words| covers(&pattern, &candidates::pieces(&words)))
        };
        if candidates.iter().any(is_other_case) {
            return Fit::Maybe("on some disks, small and capital letters are the same".to_owned());
        }
        let named: Vec<&[Mark]> = self.words.iter().map(|word| &word.marks[..]).collect();
        match candidates
            .iter()
            .any(|words| candidates::in_other_order(&named, words))
        {
            true => Fit::Maybe("its options stand otherwise than in the rule".to_owned()),
            false => Fit::No,
        }
    }

    fn marks(&self, side: Side) -> Vec<Mark> {
        let mut marks = Vec::new();
        for word in &self.words {
            marks.extend(word.marks.iter().copied());
            marks.push(Mark::End);
        }
        match (self.tail, side) {
            (Tail::Nothing, _) => {}
            (Tail::Any, _) | (Tail::Some, Side::Restrict) => marks.push(Mark::Star),
            (Tail::Some, Side::Allow) => marks.extend([Mark::One, Mark::Star]),
        }
        marks
    }
}

impl PatternWord {
    fn new(word: &Word, is_prefix: bool) -> Self {
        let mut marks = Vec::new();
        let mut is_literal_star = false;
        match word {
            Word::Literal(text) => {
                is_literal_star = text.contains('*');
                marks.extend(text.chars().map(Mark::of));
            }
            Word::Glob(text) => {
                let mut chars = text.chars();
                while let Some(c) = chars.next() {
                    let quoted = (c == '\\').then(|| chars.next()).flatten();
                    is_literal_star |= quoted == Some('*') || (c == '*' && is_prefix);
                    marks.push(Mark::of(quoted.unwrap_or(c)));
                }
            }
            Word::Unknown(_) => marks.push(Mark::Star),
        }
        Self {
            is_open: marks.contains(&Mark::Star),
            is_literal_star,
            is_unknown: matches!(word, Word::Unknown(_)),
            marks,
        }
    }
}
