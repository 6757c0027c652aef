//! What the agent asks the person: one menu a question.
//!
//! Owns the way through a set of questions. Each can be answered in one's own words; all can be declined.

use countersign_client::wire::tools::Question;

use super::{Choice, Dialog, Step};
use crate::term::keys::{Input, Key};
use crate::term::menu::{Item, Menu, Picked};
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// A set of questions.
#[derive(Debug)]
pub(crate) struct Questions {
    questions: Vec<Question>,
    answers: Vec<(String, String)>,
    menu: Menu,
}

impl Questions {
    pub(crate) fn new(questions: Vec<Question>) -> Self {
        let menu = menu_of(questions.first(), 0, questions.len());
        Self {
            questions,
            answers: Vec::new(),
            menu,
        }
    }

    fn answered(&mut self, answer: String) -> Step {
        let Some(question) = self.questions.get(self.answers.len()) else {
            return Step::Done(Choice::Decline);
        };
        self.answers.push((question.question.clone(), answer));
        self.next()
    }

    fn next(&mut self) -> Step {
        let at = self.answers.len();
        if at == self.questions.len() {
            return Step::Done(Choice::Answers(self.answers.clone()));
        }
        self.menu = menu_of(self.questions.get(at), at, self.questions.len());
        Step::Going
    }

    /// The label of an option, or what was written in its place.
    fn label(&self, index: usize, text: Option<&str>) -> Option<String> {
        let question = self.questions.get(self.answers.len())?;
        match question.options.get(index) {
            Some(option) => Some(option.label.clone()),
            None => text
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
        }
    }
}

fn menu_of(question: Option<&Question>, at: usize, of: usize) -> Menu {
    let Some(question) = question else {
        return Menu::one(Vec::new(), Vec::new());
    };
    let mut title = Line::new();
    if of > 1 {
        title = title.add(format!("{}/{of}  ", at + 1), Tone::Dim);
    }
    title = title.add(&question.question, Tone::Strong);
    let mut items: Vec<Item> = question
        .options
        .iter()
        .map(|option| Item {
            label: option.label.clone(),
            hint: option.description.clone(),
            key: None,
            opens_text: None,
        })
        .collect();
    items.push(Item {
        label: "In your own words …".to_owned(),
        hint: String::new(),
        key: Some('o'),
        opens_text: Some("Answer: ".to_owned()),
    });
    let menu = match question.multi_select {
        true => Menu::many(vec![title], items),
        false => Menu::one(vec![title], items),
    };
    menu.footed(hint(question.multi_select, at))
}

fn hint(is_many: bool, at: usize) -> &'static str {
    match (is_many, at) {
        (true, 0) => "↑↓ Space ticks · Enter takes · Esc does not answer",
        (true, _) => "↑↓ Space ticks · Enter takes · ← back · Esc does not answer",
        (false, 0) => "↑↓ Enter takes · Esc does not answer",
        (false, _) => "↑↓ Enter takes · ← back · Esc does not answer",
    }
}

impl Dialog for Questions {
    fn intro(&self, _width: usize) -> Vec<Line> {
        let what = match self.questions.len() {
            1 => "The agent has a question.".to_owned(),
            count => format!("The agent has {count} questions."),
        };
        vec![
            Line::new(),
            Line::of(what, Tone::Warn).after("? ", Tone::Warn),
        ]
    }

    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        self.menu.lines(size)
    }

    fn input(&mut self, input: &Input) -> Step {
        if !self.menu.is_writing()
            && matches!(input, Input::Key(Key::Left))
            && self.answers.pop().is_some()
        {
            return self.next();
        }
        match self.menu.input(input) {
            Picked::Going => Step::Going,
            Picked::Cancelled => Step::Done(Choice::Decline),
            Picked::One { index, text } => match self.label(index, text.as_deref()) {
                Some(answer) => self.answered(answer),
                None => self.next(),
            },
            Picked::Many { indexes, text } => {
                let labels: Vec<String> = indexes
                    .iter()
                    .filter_map(|index| self.label(*index, text.as_deref()))
                    .collect();
                match labels.is_empty() {
                    true => self.next(),
                    false => self.answered(labels.join(", ")),
                }
            }
        }
    }

    fn edited(&mut self, _text: Option<String>) -> Step {
        Step::Going
    }
}
