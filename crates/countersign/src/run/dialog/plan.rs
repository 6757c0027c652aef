//! A plan, and the four ways on from it.
//!
//! Owns the review of a plan in the terminal: shown as a document, changed in the person's editor (Ctrl+G), answered
//! with one of four ways. None of them is a silent bypass.

use super::{Choice, Dialog, PlanChoice, Step, Way};
use crate::show;
use crate::term::keys::{Input, Key};
use crate::term::menu::{Item, Menu, Picked};
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// The review of a plan.
#[derive(Debug)]
pub(crate) struct PlanReview {
    text: Option<String>,
    edited: Option<String>,
    /// Kinds of commands that the plan wants to run.
    wishes: Vec<String>,
    /// What becomes of a changed plan on this version, if it is not simply taken.
    caveat: Option<String>,
    /// How full the context is.
    context: Option<String>,
    menu: Menu,
}

impl PlanReview {
    pub(crate) fn new(text: Option<String>, wishes: Vec<String>, caveat: Option<String>) -> Self {
        Self {
            text,
            edited: None,
            wishes,
            caveat,
            context: None,
            menu: menu(None),
        }
    }

    /// With how full the context is, for whoever chooses between this conversation and a fresh one.
    pub(crate) fn in_context(self, context: Option<String>) -> Self {
        Self { context, ..self }
    }

    fn done(&self, way: Way) -> Step {
        Step::Done(Choice::Plan(PlanChoice {
            way,
            edited: self.edited.clone(),
        }))
    }

    fn plan(&self) -> &str {
        self.edited
            .as_deref()
            .or(self.text.as_deref())
            .unwrap_or_default()
    }
}

fn menu(note: Option<Line>) -> Menu {
    let item = |label: &str, hint: &str, key: char| Item {
        label: label.to_owned(),
        hint: hint.to_owned(),
        key: Some(key),
        opens_text: None,
    };
    let keep = Item {
        opens_text: Some("What shall be different? ".to_owned()),
        ..item("Keep planning …", "the agent reads what you say", 'k')
    };
    let items = vec![
        item(
            "Go ahead in a fresh conversation, accepting edits",
            "Shift+Tab; the plan is all it knows",
            'c',
        ),
        item("Go ahead, accepting edits", "in this conversation", 'a'),
        item(
            "Go ahead, asking about each edit",
            "in this conversation",
            'm',
        ),
        keep,
    ];
    let mut title = vec![Line::of("Ctrl+G changes the plan in $EDITOR", Tone::Dim)];
    title.extend(note);
    // Nothing is set in motion by a key that was meant for something else.
    Menu::one(title, items)
        .at(3)
        .footed("↑↓ Enter · Esc says no and stops")
}

impl Dialog for PlanReview {
    fn intro(&self, width: usize) -> Vec<Line> {
        let mut lines = vec![
            Line::new(),
            Line::of("The agent presents its plan.", Tone::Warn).after("? ", Tone::Warn),
        ];
        match self.plan() {
            "" => {
                lines.push(Line::of("(no text came with it)", Tone::Dim).after("  ", Tone::Plain))
            }
            text => lines.extend(show::plan(text, width)),
        }
        for wish in &self.wishes {
            lines.push(Line::of(wish, Tone::Code).after("  wants to: ", Tone::Dim));
        }
        if let Some(context) = &self.context {
            lines.push(Line::of(format!("  {context}"), Tone::Dim));
        }
        lines
    }

    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        self.menu.lines(size)
    }

    fn input(&mut self, input: &Input) -> Step {
        if !self.menu.is_writing() {
            match input {
                Input::Key(Key::BackTab) => return self.done(Way::ClearContext),
                Input::Key(Key::Ctrl('g')) => {
                    return Step::Edit {
                        text: self.plan().to_owned(),
                        suffix: ".md",
                    };
                }
                _ => {}
            }
        }
        match self.menu.input(input) {
            Picked::One { index: 0, .. } => self.done(Way::ClearContext),
            Picked::One { index: 1, .. } => self.done(Way::AcceptEdits),
            Picked::One { index: 2, .. } => self.done(Way::Manual),
            Picked::One { text, .. } => match text
                .as_deref()
                .map(str::trim)
                .filter(|text| !text.is_empty())
            {
                Some(text) => self.done(Way::KeepPlanning(text.to_owned())),
                None => {
                    self.menu = menu(Some(Line::of("Say what shall be different.", Tone::Bad)));
                    Step::Going
                }
            },
            Picked::Cancelled => {
                let message = "The person stopped here.".to_owned();
                Step::Done(Choice::Deny {
                    message,
                    stop: true,
                })
            }
            Picked::Going | Picked::Many { .. } => Step::Going,
        }
    }

    fn edited(&mut self, text: Option<String>) -> Step {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Step::Going;
        };
        let count = text.lines().count();
        let note = match &self.caveat {
            Some(caveat) => Line::of(caveat, Tone::Warn),
            None => Line::of(format!("The plan was changed: {count} lines."), Tone::Good),
        };
        self.edited = Some(text);
        self.menu = menu(Some(note));
        Step::Going
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(review: &mut PlanReview, keys: &[Key]) -> Step {
        let mut step = Step::Going;
        for key in keys {
            step = review.input(&Input::Key(*key));
        }
        step
    }

    fn way(step: Step) -> Option<Way> {
        match step {
            Step::Done(Choice::Plan(choice)) => Some(choice.way),
            _ => None,
        }
    }

    fn review() -> PlanReview {
        PlanReview::new(Some("# Plan\n1. do it".to_owned()), Vec::new(), None)
    }

    #[test]
    fn a_plan_says_how_full_the_context_is_where_that_is_known() {
        let says = |review: PlanReview| {
            let intro = review.intro(80);
            intro
                .iter()
                .any(|line| line.text().contains("context 12 % of 1 M"))
        };
        assert!(says(
            review().in_context(Some("context 12 % of 1 M".to_owned()))
        ));
        assert!(!says(review()));
    }

    #[test]
    fn there_are_four_ways_on() {
        assert_eq!(
            way(press(&mut review(), &[Key::BackTab])),
            Some(Way::ClearContext)
        );
        assert_eq!(
            way(press(&mut review(), &[Key::Char('a')])),
            Some(Way::AcceptEdits)
        );
        assert_eq!(
            way(press(&mut review(), &[Key::Char('m')])),
            Some(Way::Manual)
        );
        let keep = press(
            &mut review(),
            &[Key::Char('k'), Key::Char('n'), Key::Char('o'), Key::Enter],
        );
        assert_eq!(way(keep), Some(Way::KeepPlanning("no".to_owned())));
    }

    #[test]
    fn to_keep_planning_something_must_be_said() {
        let mut review = review();
        assert_eq!(way(press(&mut review, &[Key::Char('k'), Key::Enter])), None);
        assert_eq!(
            way(press(&mut review, &[Key::Char('m')])),
            Some(Way::Manual)
        );
    }

    #[test]
    fn a_plan_that_was_changed_goes_along() {
        let mut review = review();
        assert!(matches!(
            press(&mut review, &[Key::Ctrl('g')]),
            Step::Edit { suffix: ".md", .. }
        ));
        assert!(matches!(
            review.edited(Some("# Better".to_owned())),
            Step::Going
        ));
        let Step::Done(Choice::Plan(choice)) = press(&mut review, &[Key::Char('a')]) else {
            panic!("no choice");
        };
        assert_eq!(choice.edited.as_deref(), Some("# Better"));
    }
}
