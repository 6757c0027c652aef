//! A prompt as the requests in it: one a line, or several joined by "then".
//!
//! Invariant: nothing inside of quotes, backticks or JSON is cut, and a "then" that no request follows is part of the text.

use super::{Request, Scene, phrase, quote, recognise};

/// As far as a prompt is read for requests.
const READ: usize = 64 * 1024;
/// What joins two requests on a line.
const JOINTS: &str = ", then |, and then |; then |. then |. after that, |. after that completes, ";
/// Openings of requests whose text may be the lines below.
const OPEN_ENDED: &str = "write|create|save|plan:";

/// The requests of a prompt, in order; some may turn out to be none.
pub(super) fn pieces<'a>(request: &Request<'a>) -> Vec<&'a str> {
    let prompt = head(request.prompt);
    let mut found = Vec::new();
    let mut rest = prompt;
    while !rest.trim().is_empty() {
        let end = end_of_line(rest);
        let line = &rest[..end];
        if line.trim_end().ends_with(':')
            && phrase::after(phrase::without_courtesy(line), OPEN_ENDED).is_some()
        {
            found.push(rest);
            break;
        }
        found.extend(joined(line, request));
        rest = rest[end..].trim_start_matches(['\n', '\r']);
    }
    found
}

fn head(prompt: &str) -> &str {
    let mut end = prompt.len().min(READ);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    &prompt[..end]
}

/// Where the line ends that the text begins with; a line break in quotes does not end it.
fn end_of_line(text: &str) -> usize {
    let quoted = quote::spans(text);
    let mut breaks = text.match_indices('\n').map(|(at, _)| at);
    let end = breaks.find(|at| !quoted.iter().any(|span| span.contains(at)));
    end.unwrap_or(text.len())
}

/// The requests of a line.
fn joined<'a>(line: &'a str, request: &Request<'_>) -> Vec<&'a str> {
    let joints = phrase::places(line, JOINTS);
    let scene = Scene {
        request,
        // Whether something is a request does not depend on which file it means.
        file: Some("it"),
    };
    let mut found = Vec::new();
    let mut start = 0;
    for (index, (at, length)) in joints.iter().enumerate() {
        let end = joints.get(index + 1).map_or(line.len(), |(next, _)| *next);
        if *at >= start && recognise(&line[at + length..end], &scene).is_some() {
            found.push(&line[start..*at]);
            start = at + length;
        }
    }
    found.push(&line[start..]);
    found
}
