//! Requests that take only words, or the lack of them: say, think, count, remember, fail.

use std::time::Duration;

use super::phrase::{self, after, content, end_of_sentence, is_one_of};
use super::{Deed, Scene, plain, say, say_plain};
use crate::cli::scenario::{Amend, Step};

/// Time between two pieces of what is counted slowly.
const SLOWLY: Duration = Duration::from_millis(50);
/// Nobody waits for more lines or numbers.
const MOST: u64 = 100_000;
const LONGEST_WAIT: Duration = Duration::from_secs(600);
const STORY: u64 = 200;

fn talk(text: String) -> Option<Vec<Deed>> {
    Some(vec![Deed::Talk(vec![say(text)])])
}

/// What is said to a request that no rule knows.
pub(super) fn at_a_loss() -> Deed {
    let text = "Hello! I follow plain requests: try \"run `ls`\", \"write hello.txt: Hello\", \"read hello.txt\", \
        \"ask me which colour: red or blue\" or \"plan: tidy up\". I can also edit a file, use a tool or an agent by its name, \
        and search; put several requests on lines of their own.";
    Deed::Talk(vec![say(text.to_owned())])
}

/// "write N lines", "tell me a long story".
pub(super) fn lines(text: &str, _: &Scene<'_>) -> Option<Vec<Deed>> {
    let story = "tell me a long story|tell me a story|write a long text|write a long story|tell a long story";
    if is_one_of(text, story) {
        return talk(numbered(STORY));
    }
    let rest = after(text, "write|say|give me|print")?;
    let (count, rest) = number(rest)?;
    is_one_of(rest, "lines|line|lines of text")
        .then(|| numbered(count))
        .and_then(talk)
}

fn numbered(count: u64) -> String {
    const LINES: [&str; 4] = [
        "A small tool was given a large task.",
        "It asked before it touched anything, and wrote down what it was told.",
        "Some things were allowed and some were not, and both were worth knowing.",
        "In the end the task was done and everyone could see how.",
    ];
    let line = |number: u64| format!("{number}. {}", LINES[(number % 4) as usize]);
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}

/// "what did I say first?", "which model?" and others.
pub(super) fn asked_about(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let request = scene.request;
    let asks = |questions| is_one_of(text, questions);
    talk(
        if asks("what did i say first|what did i say|what was my first message") {
            plain(request.first_prompt)
        } else if asks("what did i ask you to remember|what did i tell you to remember")
            || asks("what do you remember|which word|what is the word|what was the word")
        {
            plain(remembered(request.first_prompt))
        } else if asks("list your tools|list tools|which tools do you have") {
            plain(&request.tools.join("\n"))
        } else if asks("list your agents|list agents|which agents do you have") {
            plain(&request.agents.join("\n"))
        } else if asks("which model|what model|which model are you|what model are you") {
            plain(request.model)
        } else if asks("which mode|what mode|which permission mode") {
            // A request before this one may have changed it.
            "${mode}".to_owned()
        } else if asks("where are you|which folder|which directory") {
            plain(request.cwd)
        } else {
            return None;
        },
    )
}

fn remembered(first_prompt: &str) -> &str {
    let words = phrase::without_courtesy(first_prompt);
    memory(words).map_or(first_prompt, |text| phrase::name(text))
}

fn memory(text: &str) -> Option<&str> {
    after(
        text,
        "remember the word|remember that|remember this:|remember:|remember",
    )
    .filter(|memory| !memory.is_empty())
}

/// "think about X", "count to N slowly", "remember WORD", "wait 2s".
pub(super) fn shown(text: &str, _: &Scene<'_>) -> Option<Vec<Deed>> {
    if let Some(memory) = memory(text) {
        return talk(format!("I will remember: {}", plain(phrase::name(memory))));
    }
    if let Some(rest) = after(text, "think hard about|think about|think:") {
        let about = plain(end_of_sentence(rest));
        let thought = format!(
            "They want me to think about {about}. What speaks for it, what against, and what would I do first?"
        );
        let steps = vec![
            Step::Think(thought, Amend::default()),
            say(format!("I thought about {about}.")),
        ];
        return Some(vec![Deed::Talk(steps)]);
    }
    if let Some(rest) = after(text, "count from 1 to|count up to|count to") {
        return counted(rest);
    }
    let rest = after(text, "wait for|wait|sleep for|sleep")?;
    let pause = duration(end_of_sentence(rest))?.min(LONGEST_WAIT);
    Some(vec![Deed::Talk(vec![
        Step::Pause(pause),
        say("I waited.".to_owned()),
    ])])
}

fn counted(rest: &str) -> Option<Vec<Deed>> {
    let (count, how) = number(rest)?;
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    let text = say(numbers.join(" "));
    let steps = if is_one_of(how, "slowly|very slowly") {
        vec![Step::Pace(SLOWLY), text, Step::Pace(Duration::ZERO)]
    } else if phrase::is_ending(how) {
        vec![text]
    } else {
        return None;
    };
    Some(vec![Deed::Talk(steps)])
}

/// "fail with STATUS": the model cannot be reached.
pub(super) fn broken(text: &str, _: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "fail with status|fail with|fail:")?;
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let status: u16 = rest[..rest.len() - digits.len()].parse().ok()?;
    let reason = digits.trim_start_matches([':', ',']).trim();
    let text = if phrase::is_ending(reason) {
        usual_reason(status).to_owned()
    } else {
        plain(&content(reason))
    };
    Some(vec![Deed::Talk(vec![Step::Fail { status, text }])])
}

fn usual_reason(status: u16) -> &'static str {
    match status {
        400 => "The request is not valid",
        401 => "The key is not valid",
        403 => "Not allowed",
        404 => "There is no such model",
        413 => "The request is too large",
        429 => "Too many requests",
        529 => "Overloaded",
        _ => "Internal server error",
    }
}

/// "say TEXT", "reply with the single word WORD."
pub(super) fn said(text: &str, _: &Scene<'_>) -> Option<Vec<Deed>> {
    if let Some(word) = after(text, "reply with the single word") {
        let word = content(end_of_sentence(word));
        return (!word.is_empty()).then(|| vec![Deed::Talk(vec![say_plain(&word)])]);
    }
    let rest = after(
        text,
        "say:|say|repeat after me:|reply with|reply:|answer:|echo",
    )?;
    let said = content(rest);
    (!said.is_empty()).then(|| vec![Deed::Talk(vec![say_plain(&said)])])
}

fn number(text: &str) -> Option<(u64, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    let number: u64 = digits.parse().ok()?;
    Some((number.min(MOST), rest.trim_start()))
}

/// `2s`, `200ms`, `2 seconds`, `1 minute`.
fn duration(text: &str) -> Option<Duration> {
    let (amount, unit) = number(text)?;
    match unit.to_ascii_lowercase().as_str() {
        "ms" | "milliseconds" => Some(Duration::from_millis(amount)),
        "s" | "second" | "seconds" | "" => Some(Duration::from_secs(amount)),
        "m" | "minute" | "minutes" => Some(Duration::from_secs(amount * 60)),
        _ => None,
    }
}
