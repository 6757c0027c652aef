//! The page of one session: what was said and done last, what it asks, a form to answer.
//!
//! Owns how entries of a transcript are shown in plain HTML. Invariant: the page loads itself again only while the agent works
//! and there is nothing on it to decide or to write.

use countersign_api::Scope;
use countersign_api::control::{Above, ApprovalView, Came, Earlier, MessageId, SessionView};
use serde_json::Value;

use super::html::{Html, page};
use super::{asked, home};
use crate::caller::Caller;
use crate::redact::Redactor;

/// Seconds until the page is looked at again.
const SOON: u8 = 2;

/// So much of a result is shown.
const LONGEST: usize = 4_000;

/// What the page shows.
pub(super) struct OneSession<'a> {
    pub(super) caller: &'a Caller,
    pub(super) session: &'a SessionView,
    /// Its newest entries, as JSON.
    pub(super) entries: &'a Above<Value>,
    /// The conversation that it goes on from, where that is to be shown.
    pub(super) earlier: Option<&'a EarlierPage>,
    /// Nothing is said of cost.
    pub(super) is_free: bool,
    pub(super) open: &'a [ApprovalView],
    /// The person wants to write.
    pub(super) writes: bool,
    pub(super) redactor: &'a Redactor,
    pub(super) now: u64,
}

/// The newest part of an earlier conversation, and where it comes from.
pub(super) struct EarlierPage {
    /// Without its entries.
    pub(super) found: Earlier,
    /// Its entries, as JSON.
    pub(super) items: Vec<Value>,
}

/// Whether an entry is something that was said, and no note about it.
pub(super) fn is_said(entry: &Value) -> bool {
    let kind = entry["body"]["kind"].as_str().unwrap_or_default();
    matches!(kind, "prompt" | "text" | "tool" | "result")
}

impl OneSession<'_> {
    pub(super) fn render(&self) -> String {
        let name = self.redactor.line(home::name_of(self.session)).into_owned();
        let works = matches!(
            self.session.state.name(),
            "queued" | "starting" | "running" | "ending"
        );
        let refresh = (works && self.open.is_empty() && !self.writes).then_some(SOON);
        page(&name, refresh, |html| {
            html.raw("<h1>").text(&name).raw("</h1><p><strong>");
            html.text(&self.session.state.name().replace('_', " "));
            html.raw("</strong> ")
                .text(&self.redactor.line(&self.session.reason));
            html.raw("<br><span class=\"dim\">")
                .text(&self.session.cwd.to_string_lossy());
            html.raw(", mode ").text(self.session.mode.name());
            if !self.is_free {
                html.raw(", $")
                    .show(format_args!("{:.4}", self.session.cost_usd));
            }
            html.raw("</span></p>");
            self.earlier(html);
            if self.entries.more {
                html.raw("<p class=\"dim\">Earlier parts are in the API.</p>");
            }
            for item in &self.entries.items {
                self.entry(html, item);
            }
            for approval in self.open {
                asked::card(html, approval, self.caller.scope, self.now, self.redactor);
            }
            self.forms(html, refresh.is_some());
        })
    }

    /// What was said before its own conversation, marked as such; or the way to it.
    fn earlier(&self, html: &mut Html) {
        let origin = self.session.origin.as_deref();
        let Some(EarlierPage { found, items }) = self.earlier else {
            if matches!(origin, Some("fork" | "import")) {
                html.raw("<p class=\"dim\">It continues an earlier conversation. <a href=\"?earlier=true\">Show it</a></p>");
            }
            return;
        };
        html.raw("<section class=\"earlier\"><h2>Earlier conversation <span class=\"dim\">read-only</span></h2><p class=\"dim\">");
        match (found.how, found.session) {
            (Came::Forked, Some(parent)) => {
                html.raw("This session was forked from <a href=\"/plain/sessions/")
                    .show(parent)
                    .raw("\">")
                    .text(
                        &self
                            .redactor
                            .line(found.name.as_deref().unwrap_or("another session")),
                    )
                    .raw("</a>.");
            }
            (Came::Forked, None) => {
                html.raw("This session was forked from another one.");
            }
            (Came::Imported, _) => {
                html.raw("This session continues a conversation that was begun in a terminal.");
            }
        }
        if let Some(cost) = found.cost_usd.filter(|cost| *cost > 0.0) {
            html.raw(" It had cost $")
                .show(format_args!("{cost:.4}"))
                .raw(" by then, which is not part of this session’s cost.");
        }
        html.raw("</p>");
        if let Some(missing) = &found.missing {
            html.raw("<p>")
                .text(&self.redactor.line(missing))
                .raw("</p>");
        }
        if found.more {
            html.raw("<p class=\"dim\">Earlier parts are in the API.</p>");
        }
        for item in items {
            self.entry(html, item);
        }
        html.raw("<p class=\"dim\">The earlier conversation ends here.</p></section>");
    }

    fn forms(&self, html: &mut Html, loads_again: bool) {
        let id = self.session.id;
        if loads_again {
            html.raw("<p class=\"dim\">This page looks again by itself. <a href=\"?write=true\">Write something meanwhile</a></p>");
        } else {
            html.raw("<p><a href=\"/plain/sessions/")
                .show(id)
                .raw("\">Look again</a></p>");
        }
        if !self.caller.scope.allows(Scope::Full) {
            return;
        }
        html.raw("<form method=\"post\" action=\"/plain/sessions/")
            .show(id);
        html.raw("\"><input type=\"hidden\" name=\"message\" value=\"")
            .show(MessageId::fresh())
            .raw("\">");
        if !loads_again {
            html.raw("<label>Message<textarea name=\"text\" autofocus></textarea></label>");
        }
        html.raw("<div class=\"row\">");
        if !loads_again {
            html.raw("<button class=\"yes\" name=\"action\" value=\"send\">Send</button>");
        }
        html.raw("<button name=\"action\" value=\"interrupt\">Interrupt the turn</button><button name=\"action\" value=\"stop\">Stop the agent</button><button name=\"action\" value=\"resume\">Resume</button></div></form>");
    }

    fn entry(&self, html: &mut Html, entry: &Value) {
        let body = &entry["body"];
        let kind = body["kind"].as_str().unwrap_or_default();
        let is = &body["is"];
        let text = is["text"]["text"].as_str().unwrap_or_default();
        match kind {
            "prompt" => self.block(html, "You", text),
            "text" => self.block(html, "Agent", text),
            "thinking" if !text.is_empty() => self.block(html, "Thinking", text),
            "tool" => self.tool(html, is),
            "result" => self.turn_end(html, is, text),
            "notice" | "stderr" => self.block(html, "Notice", text),
            "ended" => self.block(html, "The agent has ended", ""),
            "lost" => self.block(html, "The agent was lost", ""),
            _ => {}
        }
    }

    fn block(&self, html: &mut Html, who: &'static str, text: &str) {
        html.raw("<article><strong>").raw(who).raw("</strong>");
        self.pre(html, text);
        html.raw("</article>");
    }

    fn tool(&self, html: &mut Html, tool: &Value) {
        html.raw("<article><strong>")
            .text(tool["name"].as_str().unwrap_or("a tool"))
            .raw("</strong> <span class=\"dim\">")
            .text(tool["state"].as_str().unwrap_or_default())
            .raw("</span>");
        match edited_input(tool) {
            Some(sent) => {
                html.raw(" <span class=\"dim\">edited</span>");
                self.input(html, sent);
                html.raw("<details><summary>What the agent asked for</summary>");
                self.input(html, &tool["input"]["json"]);
                html.raw("</details>");
            }
            None => self.input(html, &tool["input"]["json"]),
        }
        if let Some(text) = tool["result"]["text"]["text"].as_str() {
            self.pre(html, text);
        }
        html.raw("</article>");
    }

    fn input(&self, html: &mut Html, input: &Value) {
        if !input.is_null() {
            self.pre(html, &self.redactor.value(input).to_string());
        }
    }

    fn turn_end(&self, html: &mut Html, end: &Value, text: &str) {
        let is_good = end["is_success"].as_bool() == Some(true);
        let who = match is_good {
            true => "The turn ended",
            false => "The turn failed",
        };
        let errors = end["errors"].as_array().into_iter().flatten();
        let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
        let text = [text, &errors.join("\n")].join("\n");
        self.block(html, who, text.trim());
    }

    fn pre(&self, html: &mut Html, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = self.redactor.line(text);
        let cut = text.floor_char_boundary(LONGEST);
        html.raw("<pre>").text(&text[..cut]).raw("</pre>");
        if cut < text.len() {
            html.raw("<p class=\"dim\">cut: ")
                .show(text.len())
                .raw(" bytes in all</p>");
        }
    }
}

/// The input that was sent in place of the agent's own. The text of a plan and the answers to questions edit no call.
fn edited_input(tool: &Value) -> Option<&Value> {
    let answer = &tool["approval"]["answer"];
    let is_call = matches!(tool["role"].as_str(), Some("plain" | "agent"));
    let sent = &answer["input"]["json"];
    (is_call && answer["verdict"] == "allow" && !sent.is_null()).then_some(sent)
}
