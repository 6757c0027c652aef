//! A question of an MCP server: a form, or a page to open.
//!
//! Owns the choice between the two. The form itself is the terminal's; a page is shown as an address that the person
//! opens, never opened by us.

use serde_json::Value;

use super::{Choice, Dialog, Step};
use crate::term::form::{Filled, Form};
use crate::term::keys::Input;
use crate::term::menu::{Item, Menu, Picked};
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// A question of an MCP server.
#[derive(Debug)]
pub(crate) struct Elicit {
    server: String,
    message: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Form(Box<Form>),
    Page { url: String, menu: Box<Menu> },
}

impl Elicit {
    /// A form.
    ///
    /// # Errors
    /// When the schema asks for what cannot be shown.
    pub(crate) fn form(
        server: &str,
        message: &str,
        schema: &Value,
        order: Option<&[String]>,
    ) -> Result<Self, String> {
        let form = Form::new(message, schema, order)?;
        Ok(Self {
            server: server.to_owned(),
            message: message.to_owned(),
            body: Body::Form(Box::new(form)),
        })
    }

    /// A page to open.
    pub(crate) fn page(server: &str, message: &str, url: &str) -> Self {
        let item = |label: &str, key: char| Item {
            label: label.to_owned(),
            hint: String::new(),
            key: Some(key),
            opens_text: None,
        };
        let items = vec![item("I have done so", 'y'), item("No", 'n')];
        let title = vec![Line::of(
            "Open the address yourself if you trust it.",
            Tone::Dim,
        )];
        let body = Body::Page {
            url: url.to_owned(),
            menu: Box::new(Menu::one(title, items).at(1)),
        };
        Self {
            server: server.to_owned(),
            message: message.to_owned(),
            body,
        }
    }
}

impl Dialog for Elicit {
    fn intro(&self, _width: usize) -> Vec<Line> {
        let mut lines = vec![Line::new()];
        lines.push(
            Line::of(
                format!("The server `{}` asks you something.", self.server),
                Tone::Warn,
            )
            .after("? ", Tone::Warn),
        );
        if let Body::Page { url, .. } = &self.body {
            lines.push(Line::plain(&self.message).after("  ", Tone::Plain));
            lines.push(Line::of(url, Tone::Link).after("  ", Tone::Plain));
        }
        lines
    }

    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        match &self.body {
            Body::Form(form) => form.lines(size),
            Body::Page { menu, .. } => menu.lines(size),
        }
    }

    fn input(&mut self, input: &Input) -> Step {
        match &mut self.body {
            Body::Form(form) => match form.input(input) {
                Filled::Going => Step::Going,
                Filled::Accepted(value) => Step::Done(Choice::Form(value)),
                Filled::Declined | Filled::Cancelled => Step::Done(Choice::Decline),
            },
            Body::Page { menu, .. } => match menu.input(input) {
                Picked::One { index: 0, .. } => Step::Done(Choice::Form(Value::Null)),
                Picked::One { .. } | Picked::Cancelled => Step::Done(Choice::Decline),
                Picked::Going | Picked::Many { .. } => Step::Going,
            },
        }
    }

    fn edited(&mut self, _text: Option<String>) -> Step {
        Step::Going
    }
}
