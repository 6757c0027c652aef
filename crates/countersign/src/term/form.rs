//! A form that somebody else designed, filled in field by field.
//!
//! Owns the way through it: each field once, back where wanted, a review at the end, and the ways out. Pure: keys in,
//! outcome and rows out. Invariant: what is accepted fits the schema, and nothing is sent that was not reviewed.

use serde_json::{Map, Value};

use super::editor::{Edited, Editor};
use super::field::{Field, Kind, fields, plain};
use super::keys::{Input, Key};
use super::menu::{Item, Menu, Picked};
use super::panel::{self, Panel};
use super::screen::Size;
use super::style::{Line, Tone};

/// What a key came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filled {
    Going,
    /// The answers, an object.
    Accepted(Value),
    /// The person does not want to answer.
    Declined,
    /// The person went away without a word.
    Cancelled,
}

/// A form.
#[derive(Debug)]
pub(crate) struct Form {
    message: String,
    fields: Vec<Field>,
    answers: Vec<Option<Value>>,
    stage: Stage,
    /// What is wrong with the answer that was just given.
    problem: Option<String>,
}

#[derive(Debug)]
enum Stage {
    Field {
        index: usize,
        entry: Entry,
        is_review: bool,
    },
    Review(Menu),
    /// Asked how to leave, and where to go back to.
    Leaving(Menu, Box<Stage>),
}

#[derive(Debug)]
enum Entry {
    Text(Editor),
    Choice(Menu),
}

/// What leaving offers, in this order.
const LEAVING: [(&str, char); 3] = [("Go on", 'g'), ("Decline to answer", 'd'), ("Cancel", 'c')];

impl Form {
    /// A form for a schema. `order` says in which order its fields come. `Err` says why it cannot be filled in here.
    pub(crate) fn new(
        message: &str,
        schema: &Value,
        order: Option<&[String]>,
    ) -> Result<Self, String> {
        let fields = fields(schema, order)?;
        let answers = fields.iter().map(|field| field.default.clone()).collect();
        let mut form = Self {
            message: message.to_owned(),
            fields,
            answers,
            stage: Stage::Review(Menu::one(Vec::new(), Vec::new())),
            problem: None,
        };
        form.open(0, false);
        Ok(form)
    }

    /// What a key does.
    pub(crate) fn key(&mut self, key: Key) -> Filled {
        match &mut self.stage {
            Stage::Leaving(menu, _) => {
                let picked = menu.key(key);
                self.leaving(&picked)
            }
            Stage::Review(menu) => {
                let picked = menu.key(key);
                self.reviewed(&picked)
            }
            Stage::Field {
                index, is_review, ..
            } if key == Key::BackTab => {
                if let Some(before) = index.checked_sub(1) {
                    let is_review = *is_review;
                    self.problem = None;
                    self.open(before, is_review);
                }
                Filled::Going
            }
            Stage::Field { .. } if matches!(key, Key::Esc | Key::Ctrl('c')) => self.leave(),
            Stage::Field { index, entry, .. } => {
                let index = *index;
                match entry {
                    Entry::Text(editor) => match editor.key(key) {
                        Edited::Done(text) => self.written(index, &text),
                        Edited::Going => Filled::Going,
                        Edited::Cancelled | Edited::Ended => self.leave(),
                    },
                    Entry::Choice(menu) => {
                        let picked = menu.key(key);
                        self.chosen(index, picked)
                    }
                }
            }
        }
    }

    /// What a key or a paste does. Everything else is for the caller.
    pub(crate) fn input(&mut self, input: &Input) -> Filled {
        match input {
            Input::Key(key) => return self.key(*key),
            Input::Paste(text) => self.paste(text),
            Input::Resize(_) | Input::Closed => {}
        }
        Filled::Going
    }

    /// Takes a paste, where a text is written.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Stage::Field {
            entry: Entry::Text(editor),
            ..
        } = &mut self.stage
        {
            editor.paste(text);
        }
    }

    /// Shows a field, or the review behind the last one.
    fn open(&mut self, index: usize, is_review: bool) {
        self.stage = match self.fields.get(index) {
            Some(field) => {
                let entry = entry(field, self.answers[index].as_ref());
                Stage::Field {
                    index,
                    entry,
                    is_review,
                }
            }
            None => Stage::Review(self.review()),
        };
    }

    fn review(&self) -> Menu {
        let mut items = vec![Item::new("Send").key('s')];
        for (field, answer) in self.fields.iter().zip(&self.answers) {
            let shown = answer
                .as_ref()
                .map_or_else(|| "—".to_owned(), |answer| field.shown(answer));
            items.push(Item::new(format!("{}: {shown}", field.title)));
        }
        items.extend(
            LEAVING[1..]
                .iter()
                .map(|(label, key)| Item::new(*label).key(*key)),
        );
        Menu::one(Vec::new(), items).footed("↑↓ Enter · Esc leaves")
    }

    fn leave(&mut self) -> Filled {
        let items = LEAVING
            .iter()
            .map(|(label, key)| Item::new(*label).key(*key))
            .collect();
        let menu = Menu::one(Vec::new(), items).footed("↑↓ Enter · Esc goes on");
        let stage = std::mem::replace(&mut self.stage, Stage::Review(menu.clone()));
        self.stage = Stage::Leaving(menu, Box::new(stage));
        Filled::Going
    }

    fn leaving(&mut self, picked: &Picked) -> Filled {
        match picked {
            Picked::One { index: 1, .. } => Filled::Declined,
            Picked::One { index: 2, .. } => Filled::Cancelled,
            Picked::Going => Filled::Going,
            _ => {
                let review = Stage::Review(self.review());
                if let Stage::Leaving(_, back) = std::mem::replace(&mut self.stage, review) {
                    self.stage = *back;
                }
                Filled::Going
            }
        }
    }

    fn reviewed(&mut self, picked: &Picked) -> Filled {
        let count = self.fields.len();
        match picked {
            Picked::Going => Filled::Going,
            Picked::One { index: 0, .. } => self.send(),
            Picked::One { index, .. } if *index <= count => {
                self.open(index - 1, true);
                Filled::Going
            }
            Picked::One { index, .. } if *index == count + 1 => Filled::Declined,
            Picked::One { .. } => Filled::Cancelled,
            _ => self.leave(),
        }
    }

    fn send(&mut self) -> Filled {
        let answered = self.fields.iter().zip(&self.answers);
        let missing = answered
            .clone()
            .position(|(field, answer)| field.is_required && answer.is_none());
        if let Some(missing) = missing {
            self.problem = Some("an answer is needed".to_owned());
            self.open(missing, true);
            return Filled::Going;
        }
        let object: Map<String, Value> = answered
            .filter_map(|(field, answer)| Some((field.name.clone(), answer.clone()?)))
            .collect();
        Filled::Accepted(Value::Object(object))
    }

    fn written(&mut self, index: usize, text: &str) -> Filled {
        match self.fields[index].written(text) {
            Ok(answer) => self.answer(index, answer),
            Err(problem) => {
                self.problem = Some(problem);
                // The editor was emptied; the person wants to mend, not to write anew.
                if let Stage::Field {
                    entry: Entry::Text(editor),
                    ..
                } = &mut self.stage
                {
                    editor.set_text(text);
                }
                Filled::Going
            }
        }
    }

    fn chosen(&mut self, index: usize, picked: Picked) -> Filled {
        let field = &self.fields[index];
        match (picked, &field.kind) {
            (Picked::Going, _) => Filled::Going,
            (Picked::One { index: at, .. }, Kind::Flag) => {
                let answer = [Some(Value::Bool(true)), Some(Value::Bool(false)), None]
                    .into_iter()
                    .nth(at);
                self.answer(index, answer.flatten())
            }
            (Picked::One { index: at, .. }, Kind::One(choices)) => {
                let answer = choices.get(at).map(|choice| choice.value.clone());
                self.answer(index, answer)
            }
            (Picked::Many { indexes, .. }, Kind::Many { choices, .. }) => {
                if let Err(problem) = field.ticked(indexes.len()) {
                    self.problem = Some(problem);
                    return Filled::Going;
                }
                let is_left_out = indexes.is_empty() && !field.is_required;
                let values: Vec<Value> = indexes
                    .iter()
                    .map(|at| choices[*at].value.clone())
                    .collect();
                self.answer(index, Some(Value::from(values)).filter(|_| !is_left_out))
            }
            _ => self.leave(),
        }
    }

    fn answer(&mut self, index: usize, answer: Option<Value>) -> Filled {
        self.answers[index] = answer;
        self.problem = None;
        let is_review = matches!(
            self.stage,
            Stage::Field {
                is_review: true,
                ..
            }
        );
        self.open(
            if is_review {
                self.fields.len()
            } else {
                index + 1
            },
            is_review,
        );
        Filled::Going
    }

    /// The rows at this size, and the cursor where a text is written.
    pub(crate) fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        let mut title: Vec<Line> = self.message.lines().map(Line::plain).collect();
        match &self.stage {
            Stage::Leaving(menu, _) => {
                title.push(Line::of("Leave this form?", Tone::Strong));
                menu.draw(&title, size)
            }
            Stage::Review(menu) => {
                title.push(Line::of(
                    "Send this? Choose an answer to change it.",
                    Tone::Strong,
                ));
                menu.draw(&title, size)
            }
            Stage::Field { index, entry, .. } => {
                title.extend(self.head(*index));
                match entry {
                    Entry::Choice(menu) => menu.draw(&title, size),
                    Entry::Text(editor) => text_lines(editor, &title, size),
                }
            }
        }
    }

    /// What is said about a field.
    fn head(&self, index: usize) -> Vec<Line> {
        let field = &self.fields[index];
        let need = if field.is_required { "" } else { " (optional)" };
        let place = format!("{}/{} ", index + 1, self.fields.len());
        let mut head = vec![
            Line::of(place, Tone::Dim)
                .add(&field.title, Tone::Strong)
                .add(need, Tone::Dim),
        ];
        head.extend(
            field
                .description
                .lines()
                .map(|line| Line::of(line, Tone::Dim)),
        );
        if let Some(problem) = &self.problem {
            head.push(Line::of(format!("✗ {problem}"), Tone::Bad).hanging(2));
        }
        head
    }
}

fn text_lines(editor: &Editor, title: &[Line], size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
    let width = usize::from(size.columns).max(1);
    let (lines, (row, column)) = editor.lines(size.columns);
    let footer = Line::of("Enter next · Shift+Tab back · Esc leaves", Tone::Dim).cut(width);
    let panel = Panel {
        title: panel::rows(title, width),
        blocks: vec![lines],
        chosen: 0,
        row: row.into(),
        footer: Some(footer),
    };
    let fitted = panel.fit(usize::from(size.rows).saturating_sub(1));
    (
        fitted.lines,
        Some((u16::try_from(fitted.row).unwrap_or(u16::MAX), column)),
    )
}

/// What a field is answered with, beginning with what was answered before.
fn entry(field: &Field, answer: Option<&Value>) -> Entry {
    let mut items: Vec<Item> = match &field.kind {
        Kind::Text { .. } | Kind::Number { .. } => {
            let hint = match &field.kind {
                Kind::Text {
                    format: Some(format),
                    ..
                } => format.example(),
                _ => "",
            };
            let text = answer.map(plain).unwrap_or_default();
            return Entry::Text(Editor::new("❯ ").with_text(&text).with_hint(hint));
        }
        Kind::Flag => vec![Item::new("Yes").key('y'), Item::new("No").key('n')],
        Kind::One(choices) | Kind::Many { choices, .. } => choices
            .iter()
            .map(|choice| Item::new(&choice.title))
            .collect(),
    };
    if let Kind::Many { choices, .. } = &field.kind {
        let is_ticked = |value: &Value| {
            answer
                .and_then(Value::as_array)
                .is_some_and(|values| values.contains(value))
        };
        let ticked: Vec<usize> = (0..choices.len())
            .filter(|at| is_ticked(&choices[*at].value))
            .collect();
        let menu = Menu::many(Vec::new(), items).ticked(&ticked);
        return Entry::Choice(
            menu.footed("Space ticks · Enter next · Shift+Tab back · Esc leaves"),
        );
    }
    let at = match (&field.kind, answer) {
        (Kind::Flag, Some(Value::Bool(false))) => 1,
        (Kind::One(choices), Some(answer)) => choices
            .iter()
            .position(|choice| choice.value == *answer)
            .unwrap_or(0),
        _ => 0,
    };
    if !field.is_required {
        items.push(Item::new("(leave out)"));
    }
    let menu = Menu::one(Vec::new(), items).at(at);
    Entry::Choice(menu.footed("↑↓ Enter · Shift+Tab back · Esc leaves"))
}

#[cfg(test)]
mod tests;
