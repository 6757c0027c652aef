//! May this call run? Yes, always, no, no and stop, or with another input.
//!
//! Owns the menus of an approval. What *always* can mean is worded by policy; nothing wider is offered. The choice that
//! the cursor stands on first never lets anything run that the CLI would rather not see run, or that cannot be undone: that
//! is asked twice, and never kept as a rule from here.

use std::cell::Cell;
use std::path::PathBuf;

use countersign_policy::Harm;
use serde_json::Value;

use super::{Allow, Choice, Dialog, Reach, Remember, Step};
use crate::run::desk::Brief;
use crate::show;
use crate::term::keys::Input;
use crate::term::menu::{Item, Menu, Picked};
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// An approval.
#[derive(Debug)]
pub(crate) struct Approval {
    brief: Brief,
    /// Who asks, if it is not the agent itself.
    asker: Option<String>,
    /// What stands in the file now, for a diff.
    before: Option<String>,
    cwd: PathBuf,
    stage: Stage,
    menu: Menu,
    offered: Vec<Offer>,
    /// How many rows the call took.
    height: Cell<usize>,
}

#[derive(Debug, Clone)]
enum Stage {
    First,
    Sure,
    Rule,
    Reach(Vec<String>),
}

/// What the items of the first menu mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    Yes,
    Always,
    AcceptEdits,
    No,
    NoAndStop,
    Edit,
}

impl Approval {
    pub(crate) fn new(
        brief: Brief,
        asker: Option<String>,
        before: Option<String>,
        cwd: PathBuf,
    ) -> Self {
        let (menu, offered) = first_menu(&brief, None);
        Self {
            brief,
            asker,
            before,
            cwd,
            stage: Stage::First,
            menu,
            offered,
            height: Cell::new(0),
        }
    }

    fn back(&mut self) -> Step {
        (self.menu, self.offered) = first_menu(&self.brief, None);
        self.stage = Stage::First;
        Step::Going
    }

    fn picked_first(&mut self, offer: Offer, text: Option<String>) -> Step {
        let text = text
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        match offer {
            Offer::Yes => match destroys(&self.brief) {
                Some(does) => {
                    self.stage = Stage::Sure;
                    self.menu = sure_menu(&does);
                    Step::Going
                }
                None => Step::Done(Choice::Allow(Allow::default())),
            },
            Offer::AcceptEdits => Step::Done(Choice::Allow(Allow {
                accept_edits: true,
                ..Allow::default()
            })),
            Offer::No => {
                let message = text.unwrap_or_else(|| "The person said no.".to_owned());
                Step::Done(Choice::Deny {
                    message,
                    stop: false,
                })
            }
            Offer::NoAndStop => {
                let message = "The person said no and stopped the turn.".to_owned();
                Step::Done(Choice::Deny {
                    message,
                    stop: true,
                })
            }
            Offer::Edit => {
                let text =
                    serde_json::to_string_pretty(&self.brief.entry.input).unwrap_or_default();
                Step::Edit {
                    text: text + "\n",
                    suffix: ".json",
                }
            }
            Offer::Always => {
                self.stage = Stage::Rule;
                self.menu = rule_menu(&self.brief);
                Step::Going
            }
        }
    }

    fn picked_rule(&mut self, index: usize, text: Option<String>) -> Step {
        let rules = match (self.brief.suggestions.get(index), text) {
            (Some(rules), _) => rules.clone(),
            (None, Some(text)) if !text.trim().is_empty() => vec![text.trim().to_owned()],
            (None, _) => return self.back(),
        };
        self.menu = reach_menu(&rules);
        self.stage = Stage::Reach(rules);
        Step::Going
    }

    fn picked(&mut self, index: usize, text: Option<String>) -> Step {
        match self.stage.clone() {
            Stage::First => match self.offered.get(index).copied() {
                Some(offer) => self.picked_first(offer, text),
                None => Step::Going,
            },
            Stage::Sure => match index {
                0 => self.back(),
                _ => Step::Done(Choice::Allow(Allow::default())),
            },
            Stage::Rule => self.picked_rule(index, text),
            Stage::Reach(rules) => {
                let reach = [Reach::Session, Reach::Repository, Reach::Everywhere]
                    .get(index)
                    .copied();
                let remember = reach.map(|reach| Remember { rules, reach });
                Step::Done(Choice::Allow(Allow {
                    remember,
                    ..Allow::default()
                }))
            }
        }
    }
}

impl Dialog for Approval {
    fn intro(&self, width: usize) -> Vec<Line> {
        let entry = &self.brief.entry;
        let mut lines = vec![Line::new()];
        let asks = match &self.asker {
            Some(asker) => format!("{asker} asks: may this run?"),
            None => "May this run?".to_owned(),
        };
        lines.push(Line::of(asks, Tone::Warn).after("? ", Tone::Warn));
        lines.extend(
            show::full(
                &entry.tool,
                &entry.input,
                &self.cwd,
                width.saturating_sub(2),
                self.before.as_deref().into(),
            )
            .into_iter()
            .map(|line| line.after("  ", Tone::Plain)),
        );
        let reason = Line::of(&self.brief.verdict.reason.text, Tone::Dim);
        lines.push(reason.after("  ", Tone::Plain));
        lines.extend(harm_line(&self.brief.harm).map(|line| line.after("  ", Tone::Plain)));
        let rows = lines.iter().map(|line| line.rows(width).len()).sum();
        self.height.set(rows);
        lines
    }

    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        let (mut lines, cursor) = self.menu.lines(size);
        let is_taller = usize::from(size.rows) < self.height.get() + lines.len();
        if is_taller {
            let hint = "The call is longer than the screen: scroll up to see all of it.";
            lines.insert(0, Line::of(hint, Tone::Warn));
        }
        let moved = u16::from(is_taller);
        (lines, cursor.map(|(row, column)| (row + moved, column)))
    }

    fn input(&mut self, input: &Input) -> Step {
        match self.menu.input(input) {
            Picked::Going => Step::Going,
            Picked::One { index, text } => self.picked(index, text),
            Picked::Many { .. } => Step::Going,
            Picked::Cancelled => match self.stage {
                Stage::First => self.picked_first(Offer::NoAndStop, None),
                _ => self.back(),
            },
        }
    }

    fn edited(&mut self, text: Option<String>) -> Step {
        let Some(text) = text else {
            return self.back();
        };
        match serde_json::from_str::<Value>(&text) {
            Ok(input) if input.is_object() => Step::Done(Choice::Allow(Allow {
                input: Some(input),
                ..Allow::default()
            })),
            Ok(_) => self.complain("what was written is no JSON object: nothing was sent"),
            Err(error) => self.complain(&format!(
                "what was written is no JSON ({error}): nothing was sent"
            )),
        }
    }
}

impl Approval {
    fn complain(&mut self, why: &str) -> Step {
        (self.menu, self.offered) = first_menu(&self.brief, Some(Line::of(why, Tone::Bad)));
        self.stage = Stage::First;
        Step::Going
    }
}

fn item(label: &str, key: char) -> Item {
    Item {
        label: label.to_owned(),
        hint: String::new(),
        key: Some(key),
        opens_text: None,
    }
}

fn first_menu(brief: &Brief, note: Option<Line>) -> (Menu, Vec<Offer>) {
    let mut items = vec![(item("Yes, this once", 'y'), Offer::Yes)];
    let is_harmful = destroys(brief).is_some();
    if brief.edits_would_do && !is_harmful {
        items.push((
            item("Yes, and accept edits in this folder from now on", 't'),
            Offer::AcceptEdits,
        ));
    }
    if !brief.suggestions.is_empty() && !is_harmful {
        items.push((item("Always …", 'a'), Offer::Always));
    }
    let no = Item {
        opens_text: Some("Why not? (the agent reads this; Enter for none) ".to_owned()),
        ..item("No …", 'n')
    };
    items.push((no, Offer::No));
    items.push((item("No, and stop the turn", 's'), Offer::NoAndStop));
    items.push((item("Edit the input in $EDITOR", 'e'), Offer::Edit));
    let starts_at_yes = brief.verdict.may_be_waved_through && !is_harmful;
    let first_no = items
        .iter()
        .position(|(_, offer)| *offer == Offer::No)
        .unwrap_or_default();
    let (items, offered): (Vec<Item>, Vec<Offer>) = items.into_iter().unzip();
    let menu =
        Menu::one(note.into_iter().collect(), items).footed("↑↓ Enter · Esc says no and stops");
    match starts_at_yes {
        true => (menu, offered),
        false => (menu.at(first_no), offered),
    }
}

/// What a call would destroy, in words that follow "it".
fn destroys(brief: &Brief) -> Option<String> {
    match &brief.harm {
        Harm::Destructive { does, .. } => Some(does.join(" and ")),
        Harm::None | Harm::Unread { .. } => None,
    }
}

fn harm_line(harm: &Harm) -> Option<Line> {
    match harm {
        Harm::None => None,
        Harm::Destructive { does, .. } => {
            let words = format!("Cannot be undone: it {}.", does.join(" and "));
            Some(Line::of(words, Tone::Bad))
        }
        Harm::Unread { why } => Some(Line::of(format!("Cannot be read: {why}."), Tone::Dim)),
    }
}

/// The second question, which the key that answered the first does not answer.
fn sure_menu(does: &str) -> Menu {
    let title = format!("It {does}, which cannot be undone. Allow it all the same?");
    let items = vec![item("No, go back", 'n'), item("Yes, run it", 'r')];
    Menu::one(vec![Line::of(title, Tone::Bad)], items)
}

fn rule_menu(brief: &Brief) -> Menu {
    let mut items: Vec<Item> = brief
        .suggestions
        .iter()
        .map(|rules| Item {
            label: rules.join(" and "),
            hint: String::new(),
            key: None,
            opens_text: None,
        })
        .collect();
    items.push(Item {
        opens_text: Some("Rule: ".to_owned()),
        ..item("Another rule …", 'r')
    });
    Menu::one(
        vec![Line::of(
            "Always allow what?  (Esc goes back)",
            Tone::Accent,
        )],
        items,
    )
}

fn reach_menu(rules: &[String]) -> Menu {
    let title =
        Line::of("How far shall it reach?  ", Tone::Accent).add(rules.join(" and "), Tone::Code);
    let items = vec![
        item("In this session", 's'),
        item("In this folder, from now on", 'f'),
        item("Everywhere, from now on", 'w'),
    ];
    Menu::one(vec![title], items)
}
