//! What the host writes, the notes on it, and the agent's replies to its requests.
//!
//! Owns the pairing of a note with the very next line and of a reply with its request. A mode or model is told when it
//! changes, once, whoever says it first.

use countersign_journal::Note;
use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use super::live::Place;
use crate::body::{Level, Mode, Model, NoticeKind};
use crate::bounds;
use crate::clip::word;
use crate::entry::Body;
use crate::glance::{self, RequestLine, ResponseLine};

/// What is kept of a note until the next record.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) by: Option<String>,
    pub(super) why: Option<String>,
    pub(super) client: Option<String>,
    pub(super) digest: Option<String>,
}

/// A request of the host that waits for its reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Request {
    id: String,
    subtype: String,
    /// The mode it asks for.
    wish: Option<String>,
    by: Option<String>,
}

impl Fold {
    pub(super) fn noted(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Note>(line) {
            Ok(note) => {
                let field = |text: &Option<String>| text.as_deref().map(word);
                self.note = Some(Noted {
                    by: field(&note.by),
                    why: field(&note.why),
                    client: field(&note.client),
                    digest: field(&note.digest),
                });
            }
            Err(_) => self.unread('d', line, None, Some("not a note")),
        }
    }

    /// A line to the agent, with the note on it.
    pub(super) fn host(&mut self, line: &[u8], note: Option<Noted>) {
        let Ok(route) = Route::of(line) else {
            return self.unread('h', line, None, Some("not a message"));
        };
        match route.kind.raw() {
            b"user" => self.prompted(line, &route, note),
            b"control_response" => self.answered(line, &route, note),
            b"control_request" => self.requested(line, &route, note),
            b"control_cancel_request" | b"keep_alive" | b"update_environment_variables" => {}
            _ => self.unknown('h', line, &route),
        }
    }

    fn requested(&mut self, line: &[u8], route: &Route<'_>, note: Option<Noted>) {
        let subtype = route.subtype.map(|subtype| word(&subtype.get()));
        let subtype = subtype.unwrap_or_default();
        let by = note.and_then(|note| note.by);
        if subtype == "interrupt" {
            self.turn.interrupted_by(by.clone());
        }
        let Some(id) = route.request_id else { return };
        let glance = glance::line::<RequestLine>(line).and_then(|line| line.request);
        let wish = glance.and_then(|glance| glance.mode);
        self.requests.push_back(Request {
            id: word(&id.get()),
            subtype,
            wish: wish.as_deref().map(word),
            by,
        });
        if self.requests.len() > bounds::REQUESTS {
            self.requests.pop_front();
        }
    }

    /// The agent replies to a request of the host. The first reply counts; old CLIs send two.
    pub(super) fn replied(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(id) = route.request_id.map(|id| word(&id.get())) else {
            return;
        };
        let at = self.requests.iter().position(|request| request.id == id);
        let Some(request) = at.and_then(|at| self.requests.remove(at)) else {
            return;
        };
        let is_error = route.subtype.is_some_and(|subtype| subtype == "error");
        let is_shown = matches!(&*request.subtype, "set_permission_mode" | "set_model");
        if !is_error && !is_shown {
            return;
        }
        let body = glance::line::<ResponseLine>(line).and_then(|line| line.response);
        let body = body.unwrap_or_default();
        if is_error {
            let source = format!("control_response/{}", request.subtype);
            let text = body.error.as_deref().unwrap_or("refused");
            let (level, about) = (Level::Warning, NoticeKind::Request);
            return self.notice(Place::default(), level, about, &source, text);
        }
        let said = body.response.unwrap_or_default();
        match &*request.subtype {
            "set_permission_mode" => {
                if let Some(mode) = said.mode.or(request.wish.clone()) {
                    self.mode(&mode, Some(request));
                }
            }
            // A name that the CLI has not resolved may be an alias: the next turn says what it means.
            _ => match said.model {
                Some(model) => self.model(&model, Some(request)),
                None => self.known.model_wish = Some(request),
            },
        }
    }

    /// The agent is in this mode: told if it was in another one, or the host wished for it.
    pub(super) fn mode(&mut self, mode: &str, wish: Option<Request>) {
        let to = word(mode);
        let from = self.known.mode.replace(to.clone());
        if from.as_ref() != Some(&to) && (from.is_some() || wish.is_some()) {
            let by = wish.and_then(|wish| wish.by);
            let body = Body::Mode(Mode { from, to, by });
            self.live.put(Place::default(), body);
        }
    }

    /// The agent uses this model: told in the same way.
    pub(super) fn model(&mut self, model: &str, wish: Option<Request>) {
        let wish = wish.or(self.known.model_wish.take());
        let to = word(model);
        let from = self.known.model.replace(to.clone());
        if from.as_ref() != Some(&to) && (from.is_some() || wish.is_some()) {
            let by = wish.and_then(|wish| wish.by);
            let body = Body::Model(Model { from, to, by });
            self.live.put(Place::default(), body);
        }
    }
}
