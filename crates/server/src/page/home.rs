//! The first page: what waits for a person, how sessions stand, a form for a new one.
//!
//! Owns how these are shown. Invariant: a page on which something can be decided never loads itself again: a button must not
//! move under a hand.

use countersign_api::Scope;
use countersign_api::control::{ApprovalView, SessionId, SessionView};

use super::html::{Html, page};
use super::{PageSettings, ago, asked};
use crate::caller::Caller;
use crate::redact::Redactor;

/// What the page shows.
pub(super) struct Home<'a> {
    pub(super) caller: &'a Caller,
    pub(super) sessions: &'a [SessionView],
    pub(super) open: &'a [ApprovalView],
    pub(super) has_more: bool,
    pub(super) settings: &'a PageSettings,
    pub(super) redactor: &'a Redactor,
    pub(super) now: u64,
}

impl Home<'_> {
    pub(super) fn render(&self) -> String {
        page("Countersign", None, |html| {
            if let Some(note) = &self.settings.note {
                html.raw("<p class=\"note\">").text(note).raw("</p>");
            }
            self.inbox(html);
            self.list(html);
            if self.caller.scope.allows(Scope::Full) {
                self.begin(html);
            }
            self.about(html);
        })
    }

    fn inbox(&self, html: &mut Html) {
        html.raw("<h1>Waiting for you</h1>");
        if self.open.is_empty() {
            html.raw("<p>Nothing. <a href=\"/plain\">Look again</a></p>");
        }
        for approval in self.open {
            asked::card(html, approval, self.caller.scope, self.now, self.redactor);
        }
    }

    fn list(&self, html: &mut Html) {
        html.raw("<h2>Sessions</h2>");
        if self.sessions.is_empty() {
            html.raw("<p>There is none yet.</p>");
            return;
        }
        html.raw("<table><thead><tr><th>Name</th><th>State</th><th>Folder</th><th>Cost</th><th>Last</th></tr></thead><tbody>");
        for session in self.sessions {
            html.raw("<tr><td><a href=\"/plain/sessions/")
                .show(session.id)
                .raw("\">")
                .text(&self.redactor.line(name_of(session)))
                .raw("</a></td><td>")
                .text(&session.state.name().replace('_', " "))
                .raw("<br><span class=\"dim\">")
                .text(&self.redactor.line(&session.reason))
                .raw("</span></td><td>")
                .text(&session.cwd.to_string_lossy())
                .raw("</td><td>");
            match self.settings.is_free(session.cost_usd) {
                true => html.raw("–"),
                false => html.raw("$").show(format_args!("{:.2}", session.cost_usd)),
            };
            html.raw("</td><td>")
                .text(&ago(session.last_activity, self.now))
                .raw("</td></tr>");
        }
        html.raw("</tbody></table>");
        if self.has_more {
            html.raw("<p class=\"dim\">Older ones: <code>countersign sessions</code>.</p>");
        }
    }

    fn begin(&self, html: &mut Html) {
        html.raw("<h2>Begin a session</h2><form method=\"post\" action=\"/plain/sessions\"><input type=\"hidden\" name=\"id\" value=\"")
            .show(SessionId::fresh())
            .raw("\"><label>What is to be done<textarea name=\"prompt\" required>");
        html.text(self.settings.prompt.as_deref().unwrap_or_default());
        html.raw("</textarea></label><label>In which folder<input type=\"text\" name=\"cwd\" required value=\"");
        let folder = self.settings.folder.as_deref();
        html.text(&folder.unwrap_or("".as_ref()).to_string_lossy());
        html.raw("\"></label><label>Mode<select name=\"mode\"><option value=\"ask\">Ask each time</option><option value=\"plan\">Plan first</option><option value=\"edits\">Accept edits</option><option value=\"rules-only\">Only what rules allow</option></select></label><button class=\"yes\">Begin</button></form>");
    }

    fn about(&self, html: &mut Html) {
        html.raw("<h2>About this page</h2><p class=\"dim\">This is the plain page: it needs no script and can do little. ");
        match self.settings.has_ui {
            true => html.raw("<a href=\"/\">The other one</a> can do more."),
            false => html
                .raw("The other one is not part of this program: ")
                .text(super::built::why_not().unwrap_or("it was not built"))
                .raw(". With Node.js 20 or later, <code>cargo clean -p countersign-page</code> and build again."),
        };
        html.raw(" The API is described by <a href=\"/api/openapi.json\">/api/openapi.json</a>. You are signed in as <strong>")
            .text(&self.caller.name)
            .raw("</strong> and may do: ")
            .text(self.caller.scope.name())
            .raw(".</p>");
    }
}

/// A name to show: a session that has none is called by its id.
pub(super) fn name_of(session: &SessionView) -> &str {
    match session.name.trim() {
        "" => "without a name",
        name => name,
    }
}

/// For somebody who is not signed in.
pub(super) fn strangers() -> String {
    page("Countersign", None, |html| {
        html.raw("<h1>Not signed in</h1><p>Open the login link that <code>countersign</code> printed in the terminal. It works once.</p>");
        html.raw("<p>For a new link run <code>countersign</code> again, in another terminal: it finds the running one and prints a link of it.</p>");
    })
}
