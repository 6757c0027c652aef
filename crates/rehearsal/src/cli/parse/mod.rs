//! From the text of a scenario to the scenario.
//!
//! Owns the header, the blocks and their nesting; `steps` reads single steps, the scanner is the model script's. Pure, and
//! strict: a word it does not know is an error with its place, what may stand there and the word that was probably meant.

mod steps;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Signal;
use super::scenario::{Block, Condition, Delegation, Header, Scenario, Step, Steps, When};
use super::version::Version;
use super::words::{self, Place, WORDS};
use crate::model::scan::{Cursor, Lines};
use crate::model::{ParseError, Position};

/// Why a scenario could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{error}{}", Hint(.error.hint.as_deref()))]
pub struct ScenarioError {
    /// The scenario.
    pub name: String,
    /// What is wrong, and where in it.
    pub error: ParseError,
}

struct Hint<'a>(Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hint) => write!(f, "; did you mean `{hint}`?"),
            None => Ok(()),
        }
    }
}

impl Scenario {
    /// Reads a scenario; `name` stands in front of errors.
    ///
    /// ```
    /// use countersign_rehearsal::cli::Scenario;
    /// assert!(Scenario::parse("turn\n  say \"Hello.\"\n", "hello").is_ok());
    /// let error = Scenario::parse("turn\n  sya \"Hello.\"\n", "hello").unwrap_err();
    /// assert_eq!(error.error.hint.as_deref(), Some("say"));
    /// ```
    ///
    /// # Errors
    /// When a line is not as it should be; the error has its place.
    pub fn parse(text: &str, name: &str) -> Result<Self, ScenarioError> {
        let mut parser = Parser::default();
        let mut lines = Lines::new(text);
        let result = parser.lines(&mut lines).and_then(|()| parser.finish(text));
        match result {
            Ok((header, blocks)) => Ok(Self {
                name: name.to_owned(),
                header,
                blocks,
            }),
            Err(error) => Err(ScenarioError {
                name: name.to_owned(),
                error,
            }),
        }
    }
}

#[derive(Default)]
struct Parser {
    header: Header,
    settings: Vec<Step>,
    blocks: Vec<Block>,
    /// The block that is being read.
    open: Option<When>,
    /// Its steps, and inside it those of each open `repeat`, `together`, `agent` and `if`.
    nest: Vec<Level>,
}

/// One level of steps.
struct Level {
    at: Position,
    kind: Nested,
    steps: Vec<Step>,
}

/// What the steps of a level are for.
enum Nested {
    Block,
    Repeat(Option<u64>),
    Together,
    Agent(Box<Delegation>),
    Then(Condition),
    Else(Condition, Steps),
}

impl Nested {
    fn word(&self) -> &'static str {
        match self {
            Nested::Block => "block",
            Nested::Repeat(_) => "repeat",
            Nested::Together => "together",
            Nested::Agent(_) => "agent",
            Nested::Then(_) | Nested::Else(..) => "if",
        }
    }

    /// The step that the closed level is.
    fn step(self, steps: Vec<Step>) -> Step {
        match self {
            Nested::Block => Step::Repeat {
                times: Some(1),
                steps: steps.into(),
            },
            Nested::Repeat(times) => Step::Repeat {
                times,
                steps: steps.into(),
            },
            Nested::Together => Step::Together(steps.into()),
            Nested::Agent(mut delegation) => {
                delegation.steps = (!steps.is_empty()).then(|| steps.into());
                Step::Agent(*delegation)
            }
            Nested::Then(condition) => Step::If {
                condition,
                then: steps.into(),
                otherwise: Arc::new([]),
            },
            Nested::Else(condition, then) => Step::If {
                condition,
                then,
                otherwise: steps.into(),
            },
        }
    }
}

impl Parser {
    fn lines<'a>(&mut self, lines: &mut Lines<'a>) -> Result<(), ParseError> {
        while let Some(mut cursor) = lines.next_directive() {
            self.line(&mut cursor, lines)?;
        }
        Ok(())
    }

    fn line<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        lines: &mut Lines<'a>,
    ) -> Result<(), ParseError> {
        let before = cursor.clone();
        let in_block = self.open.is_some();
        let expected = || words::allowed(in_block);
        let name = cursor.word("a word")?;
        let Some(word) = WORDS.iter().find(|word| word.name == name) else {
            let meant = words::nearest(name, WORDS.iter().map(|word| word.name));
            return Err(before.error(expected()).meaning(meant));
        };
        match word.place {
            Place::Header if in_block => Err(before.error("this line above the first block"))?,
            Place::Step if !in_block => Err(before.error(expected()))?,
            Place::Header => self.header_line(name, cursor)?,
            Place::Block => {
                self.close_block()?;
                let when = opening(name, cursor)?;
                self.open = Some(when);
                self.nest.push(Level {
                    at: before.position(),
                    kind: Nested::Block,
                    steps: Vec::new(),
                });
            }
            Place::Step | Place::Anywhere => self.step(name, cursor, lines)?,
        }
        cursor.finish("nothing more on this line")?;
        Ok(())
    }

    fn header_line(&mut self, name: &str, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        match name {
            "version" => self.header.version = version(cursor)?,
            "session" => {
                let id = cursor.word("a UUID")?;
                self.header.session = Some(id.to_owned());
            }
            _ => {
                while !cursor.is_done() {
                    let flag = if cursor.peek_word().starts_with('"') {
                        cursor.string("a flag")?
                    } else {
                        cursor.word("a flag")?.to_owned()
                    };
                    self.header.flags.push(flag);
                }
            }
        }
        Ok(())
    }

    fn step<'a>(
        &mut self,
        name: &str,
        cursor: &mut Cursor<'a>,
        lines: &mut Lines<'a>,
    ) -> Result<(), ParseError> {
        let at = cursor.position();
        let kind = match name {
            "repeat" if cursor.take_word("forever") => Nested::Repeat(None),
            "repeat" => Nested::Repeat(Some(cursor.number("a count, or `forever`")?)),
            "together" => Nested::Together,
            "agent" => Nested::Agent(Box::new(steps::delegation(cursor, lines)?)),
            "if" => Nested::Then(steps::branch(cursor)?),
            "else" => return self.other_branch(cursor),
            "end" => return self.close_level(cursor),
            _ => {
                let before = cursor.clone();
                let step = steps::step(name, cursor, lines)?;
                return self.push(step, &before);
            }
        };
        self.nest.push(Level {
            at,
            kind,
            steps: Vec::new(),
        });
        Ok(())
    }

    fn other_branch(&mut self, cursor: &Cursor<'_>) -> Result<(), ParseError> {
        let Some(level) = self.nest.last_mut() else {
            return Err(cursor.error("an open `if` above `else`"));
        };
        match std::mem::replace(&mut level.kind, Nested::Block) {
            Nested::Then(condition) => {
                let then = std::mem::take(&mut level.steps);
                level.kind = Nested::Else(condition, then.into());
                Ok(())
            }
            other => {
                level.kind = other;
                Err(cursor.error("an open `if` above `else`"))
            }
        }
    }

    fn close_level(&mut self, cursor: &Cursor<'_>) -> Result<(), ParseError> {
        if self.nest.len() < 2 {
            let expected = "an open `repeat`, `together`, `agent` or `if` above `end`";
            return Err(cursor.error(expected));
        }
        match self.nest.pop() {
            Some(level) => self.push(level.kind.step(level.steps), cursor),
            None => Ok(()),
        }
    }

    fn push(&mut self, step: Step, at: &Cursor<'_>) -> Result<(), ParseError> {
        match self.nest.last_mut() {
            Some(Level {
                kind: Nested::Together,
                ..
            }) if !matches!(step, Step::Tool(_) | Step::Agent(_)) => {
                Err(at.error("`tool` or `agent` inside of `together`"))
            }
            Some(level) => {
                level.steps.push(step);
                Ok(())
            }
            None => {
                self.settings.push(step);
                Ok(())
            }
        }
    }

    fn close_block(&mut self) -> Result<(), ParseError> {
        if self.nest.len() > 1
            && let Some(level) = self.nest.pop()
        {
            let error = ParseError {
                at: level.at,
                expected: format!("an `end` for this `{}`", level.kind.word()),
                found: "the end of the block".to_owned(),
                hint: None,
            };
            return Err(error);
        }
        if let (Some(when), Some(level)) = (self.open.take(), self.nest.pop()) {
            self.blocks.push(Block {
                when,
                steps: Arc::from(level.steps),
            });
        }
        Ok(())
    }

    fn finish(&mut self, text: &str) -> Result<(Header, Vec<Block>), ParseError> {
        self.close_block()?;
        self.header.settings = std::mem::take(&mut self.settings).into();
        check_variables(text, &self.blocks)?;
        Ok((
            std::mem::take(&mut self.header),
            std::mem::take(&mut self.blocks),
        ))
    }
}

fn version(cursor: &mut Cursor<'_>) -> Result<Version, ParseError> {
    const EXPECTED: &str = "a version such as 2.0.75";
    let before = cursor.clone();
    let word = cursor.word(EXPECTED)?;
    word.parse().map_err(|_| before.error(EXPECTED))
}

/// The rest of the line that opens a block.
fn opening(name: &str, cursor: &mut Cursor<'_>) -> Result<When, ParseError> {
    Ok(match name {
        "start" => When::Start,
        "turn" => turn(cursor)?,
        "unsolicited" => {
            let after = if cursor.take_word("after") {
                cursor.duration()?
            } else {
                Duration::ZERO
            };
            When::Unsolicited { after }
        }
        _ => {
            let subject = cursor.word("the subtype of a control request, or a signal")?;
            match Signal::named(subject) {
                Some(signal) => When::Signal(signal),
                None => When::Request(subject.to_owned()),
            }
        }
    })
}

/// `turn [always | N times] [when "…"]`
fn turn(cursor: &mut Cursor<'_>) -> Result<When, ParseError> {
    let uses = cursor.uses()?;
    let contains = if cursor.take_word("when") {
        Some(cursor.string("the text to look for, in quotes")?)
    } else {
        None
    };
    cursor.finish("`always`, `3 times`, `when \"…\"` or the end of the line")?;
    Ok(When::Turn { uses, contains })
}

/// Names that always have a value.
const VARIABLES: &str =
    "cwd first_prompt home mode model n plan_file prompt result session user_uuid uuid version";

/// Every `${name}` of the text is built in or the name of a question.
fn check_variables(text: &str, blocks: &[Block]) -> Result<(), ParseError> {
    let mut names: BTreeSet<&str> = VARIABLES.split(' ').collect();
    for block in blocks {
        collect_labels(&block.steps, &mut names);
    }
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        for (at, _) in line.match_indices("${") {
            let name = line[at + 2..].split('}').next().unwrap_or_default();
            if line[..at].ends_with('$') || names.contains(name) {
                continue;
            }
            let known: Vec<&str> = names.iter().copied().collect();
            return Err(ParseError {
                at: Position {
                    line: index + 1,
                    column: line[..at].chars().count() + 1,
                },
                expected: format!("one of the names {}, or `$${{`", known.join(", ")),
                found: format!("`${{{name}}}`"),
                hint: words::nearest(name, known.iter().copied()).map(str::to_owned),
            });
        }
    }
    Ok(())
}

fn collect_labels<'a>(steps: &'a [Step], names: &mut BTreeSet<&'a str>) {
    for step in steps {
        match step {
            Step::Ask(_, asking) => names.extend(asking.label.as_deref()),
            Step::Repeat { steps, .. } | Step::Together(steps) => collect_labels(steps, names),
            Step::Agent(Delegation {
                steps: Some(steps), ..
            }) => collect_labels(steps, names),
            Step::If {
                then, otherwise, ..
            } => {
                collect_labels(then, names);
                collect_labels(otherwise, names);
            }
            _ => {}
        }
    }
}
