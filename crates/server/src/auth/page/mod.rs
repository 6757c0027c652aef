//! The page behind a login link.
//!
//! Owns three small files and what is put into them. Looking at the page changes nothing: the code is spent by its button, so
//! a chat program that looks at a link before a person does leaves it good. On this machine itself nobody looks ahead, and a
//! script presses the button. Invariant: whatever stands in the address is escaped before it stands in the page.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What a page of this kind shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shows<'a> {
    /// A button that signs in by this code. `presses_itself`: by a script, where it runs.
    Button { code: &'a str, presses_itself: bool },
    /// A field for a token.
    Field,
    /// That it did not work, and a field for a token.
    Failed { status: StatusCode, why: &'a str },
}

/// The page.
pub(crate) fn page(shows: Shows<'_>) -> Response {
    let field = r#"<label>Token <input type="password" name="token" autocomplete="current-password" required></label>"#;
    let (status, lead, input, script) = match shows {
        Shows::Button {
            code,
            presses_itself,
        } => {
            let input = format!(
                r#"<input type="hidden" name="code" value="{}">"#,
                escape(code)
            );
            let script = match presses_itself {
                true => r#"<script src="/login.js" defer></script>"#,
                false => "",
            };
            (
                StatusCode::OK,
                "Sign this browser in?".to_owned(),
                input,
                script,
            )
        }
        Shows::Field => {
            let lead = "Paste a token, or open the link that <code>countersign</code> prints.";
            (StatusCode::OK, lead.to_owned(), field.to_owned(), "")
        }
        Shows::Failed { status, why } => (status, ticked(&escape(why)), field.to_owned(), ""),
    };
    let html = PAGE
        .replace("{script}", script)
        .replace("{lead}", &lead)
        .replace("{input}", &input);
    let mut response = (status, file("text/html; charset=utf-8", html)).into_response();
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE.to_owned())
}

pub(crate) async fn script() -> Response {
    file("text/javascript; charset=utf-8", SCRIPT.to_owned())
}

fn file(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Sets what stands between ticks as code.
fn ticked(escaped: &str) -> String {
    let parts = escaped
        .split('`')
        .enumerate()
        .map(|(at, part)| match at % 2 {
            0 => part.to_owned(),
            _ => format!("<code>{part}</code>"),
        });
    parts.collect()
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_the_page_cannot_become_a_part_of_it() {
        assert_eq!(
            escape(r#"<a b="c" d='e'>&"#),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"
        );
    }

    #[test]
    fn the_page_has_nothing_that_its_policy_forbids() {
        assert!(!PAGE.contains("style=") && !PAGE.contains("<style") && !PAGE.contains("onload"));
        for part in ["{script}", "{lead}", "{input}"] {
            assert_eq!(PAGE.matches(part).count(), 1, "{part}");
        }
    }
}
