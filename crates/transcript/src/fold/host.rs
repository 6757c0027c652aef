//! What the host writes, the notes on it, and the agent's replies to its requests.
//!
//! Owns the pairing of a note with the very next line and of a reply with its request. A mode or model is told when it
//! changes, once, whoever says it first.

use countersign_journal::Note;
use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The mode of the host that is in force from the line on.
    #[serde(default)]
    pub(super) mode: Option<String>,
    /// Why, as a word.
    #[serde(default)]
    pub(super) reason_kind: Option<String>,
    /// The way on from a plan.
    #[serde(default)]
    pub(super) way: Option<String>,
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
                // The host decides by its rules; where it names none, its mode did.
                let names_rule = |decision: &Value| decision.get("rule").is_some();
                let decision = note.extra.get("decision");
                let is_by_mode = note.by.as_deref() == Some("rule")
                    && decision.is_some_and(|it| it.is_object() && !names_rule(it));
                self.note = Some(Noted {
                    by: match is_by_mode {
                        true => Some("mode".to_owned()),
                        false => field(&note.by),
                    },
                    why: field(&note.why),
                    client: field(&note.client),
                    digest: field(&note.digest),
                    mode: note.extra.get("mode").and_then(Value::as_str).map(word),
                    reason_kind: decision.and_then(|it| it.get("kind")?.as_str()).map(word),
                    way: field(&note.way),
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
        if let Some(mode) = note.as_ref().and_then(|note| note.mode.clone()) {
            let by = note.as_ref().and_then(|note| note.by.clone());
            self.known.host_mode = Some(mode.clone());
            let is_chosen = by.is_some();
            self.mode(&mode, by, is_chosen);
        }
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
                if let Some(mode) = said.mode.or(request.wish) {
                    self.cli_mode(&mode, request.by, true);
                }
            }
            // A name that the CLI has not resolved may be an alias: the next turn says what it means.
            _ => match said.model {
                Some(model) => self.model(&model, Some(request)),
                None => self.known.model_wish = Some(request),
            },
        }
    }

    /// The CLI is in this mode. A host has modes of its own, of which the CLI knows only whether it plans.
    pub(super) fn cli_mode(&mut self, mode: &str, by: Option<String>, is_chosen: bool) {
        let Some(of_host) = self.known.host_mode.clone() else {
            return self.mode(mode, by, is_chosen);
        };
        let is_asked = |request: &Request| request.subtype == "set_permission_mode";
        match mode {
            // It may still speak of the mode before.
            _ if self.requests.iter().any(is_asked) => {}
            "plan" => self.mode(mode, by, is_chosen),
            _ => self.mode(&of_host, by, is_chosen),
        }
    }

    /// This mode is in force: told if it was another one, or somebody chose it.
    pub(super) fn mode(&mut self, mode: &str, by: Option<String>, is_chosen: bool) {
        let to = word(mode);
        let from = self.known.mode.replace(to.clone());
        let is_same = from.as_deref().map(usual) == Some(usual(&to));
        if !is_same && (from.is_some() || is_chosen) {
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

/// The CLI's own word for asking each time, and ours, are one mode.
fn usual(mode: &str) -> &str {
    match mode {
        "ask" => "default",
        mode => mode,
    }
}
