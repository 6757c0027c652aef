//! What scripts are read as, and what is said about those that cannot be read.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::model::Vars;

fn only_reply(body: &str) -> Reply {
    let mut script = Script::parse(&format!("reply\n{body}")).unwrap();
    assert_eq!(script.replies.len(), 1);
    script.replies.remove(0)
}

fn text(step: &Step) -> (&str, usize) {
    match step {
        Step::Say(text) | Step::Think(text) => (&text.template, text.repeat),
        other => panic!("no text in {other:?}"),
    }
}

#[test]
fn a_reply_holds_its_steps_in_order() {
    let reply = only_reply(
        r#"
          think "Hm."   # a comment
          say "Two\nlines # no comment"
          tool Bash {"command": "echo '# no comment'"}   # a comment
          wait 200ms
          pace 2s
          chunk 4
          stop max_tokens
          usage input=12 output=30 cache_read=5 cache_write=0
        "#,
    );
    assert_eq!(text(&reply.steps[0]), ("Hm.", 1));
    assert_eq!(text(&reply.steps[1]), ("Two\nlines # no comment", 1));
    let Step::Tool { name, input } = &reply.steps[2] else {
        panic!("{:?}", reply.steps[2])
    };
    assert_eq!(
        (name.as_str(), &input.template),
        ("Bash", &json!({"command": "echo '# no comment'"}))
    );
    let rest = [
        Step::Wait(Duration::from_millis(200)),
        Step::Pace(Duration::from_secs(2)),
        Step::Chunk(4),
    ];
    assert_eq!(reply.steps[3..], rest);
    assert_eq!(
        reply.stop,
        Some(Stop {
            reason: "max_tokens".to_owned(),
            details: Vec::new()
        })
    );
    let usage = Usage {
        input: Some(12),
        output: Some(30),
        cache_read: Some(5),
        cache_write: Some(0),
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn an_opening_says_for_whom_and_how_often() {
    let opening = |line: &str| {
        let mut script = Script::parse(&format!("{line}\n say \"x\"")).unwrap();
        let reply = script.replies.remove(0);
        let wanted = match reply.matcher {
            Matcher::Next => String::new(),
            Matcher::Newest(text) => format!("newest {}", text.template),
            Matcher::First(text) => format!("first {}", text.template),
        };
        (reply.uses, reply.audience, wanted)
    };
    let table = [
        ("reply", (Uses::Times(1), Audience::Main, "")),
        ("reply # why", (Uses::Times(1), Audience::Main, "")),
        (
            "reply when \"a b\"",
            (Uses::Times(1), Audience::Main, "newest a b"),
        ),
        (
            "reply in \"a b\"",
            (Uses::Times(1), Audience::Main, "first a b"),
        ),
        (
            "reply always when \"a\"",
            (Uses::Always, Audience::Main, "newest a"),
        ),
        (
            "reply 3 times side when \"a\"",
            (Uses::Times(3), Audience::Side, "newest a"),
        ),
        ("reply always side", (Uses::Always, Audience::Side, "")),
    ];
    for (line, (uses, audience, wanted)) in table {
        assert_eq!(opening(line), (uses, audience, wanted.to_owned()), "{line}");
    }
}

#[test]
fn here_texts_lose_the_indentation_they_share() {
    let reply = only_reply(
        "say <<END\n    one\n      two\n\n    three # kept\n  END\ntool Write <<JSON\n{\n \"a\": 1}\nJSON\n",
    );
    assert_eq!(text(&reply.steps[0]), ("one\n  two\n\nthree # kept", 1));
    let Step::Tool { input, .. } = &reply.steps[1] else {
        panic!("{:?}", reply.steps[1])
    };
    assert_eq!(input.template, json!({"a": 1}));
}

#[test]
fn repeats_are_kept_as_counts() {
    let reply = only_reply("say repeat 1000 \"word \"\nthink repeat 2 <<E\nline\nE");
    assert_eq!(text(&reply.steps[0]), ("word ", 1000));
    assert_eq!(text(&reply.steps[1]), ("line", 2));
}

#[test]
fn an_error_takes_headers_and_a_type_of_its_own() {
    let reply = only_reply("error 529 \"Over\" retry-after=1 type=odd_error x-note=\"a b\"");
    let Step::Error(error) = &reply.steps[0] else {
        panic!("{:?}", reply.steps[0])
    };
    assert_eq!(
        (error.status, error.kind.as_deref()),
        (529, Some("odd_error"))
    );
    let headers = [("retry-after", "1"), ("x-note", "a b")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(error.headers, headers);
}

#[test]
fn the_header_comes_before_the_first_reply() {
    let script =
        Script::parse("# a script\nside \"fine\"\nmain any\n\nreply\nsay \"x\"\n").unwrap();
    assert_eq!(
        script
            .header
            .side
            .as_ref()
            .map(|text| text.template.as_str()),
        Some("fine")
    );
    assert_eq!(script.header.main, MainRule::Any);
}

#[test]
fn an_empty_script_holds_no_reply() {
    for text in ["", "# nothing\n\n", "\u{feff}", "\r\n"] {
        assert_eq!(Script::parse(text).unwrap().replies(), 0, "{text:?}");
    }
}

/// Script, place of the error, a part of what was expected, a part of what was found.
type Case = (&'static str, (usize, usize), &'static str, &'static str);

#[test]
fn errors_name_the_place_and_what_may_stand_there() {
    let table: [Case; 29] = [
        ("say \"x\"", (1, 1), "`reply`", "`say"),
        ("main many", (1, 6), "`any` or `tools`", "`many`"),
        (
            "reply\n  shout \"x\"",
            (2, 3),
            "`reply` or a step",
            "`shout",
        ),
        ("reply\nside \"x\"", (2, 1), "`reply` or a step", "`side"),
        ("reply sometimes", (1, 7), "`always`", "`sometimes`"),
        ("reply 0 times", (1, 7), "at least 1", "`0 times`"),
        ("reply 3", (1, 8), "`times`", "the end of the line"),
        ("reply when", (1, 11), "in quotes", "the end of the line"),
        ("reply when \"\"", (1, 12), "not empty", "`\"\"`"),
        ("reply", (1, 1), "says something", "none of these"),
        (
            "reply\nwait 1s\nreply\nsay \"x\"",
            (1, 1),
            "says something",
            "none of these",
        ),
        ("reply\n  say x", (2, 7), "a text in quotes", "`x`"),
        ("reply\n  say # x", (2, 7), "a text in quotes", "a comment"),
        ("reply\n  say \"x", (2, 8), "valid JSON (EOF", "`x`"),
        (
            "reply\n  say \"x\" \"y\"",
            (2, 11),
            "the end of the line",
            "`\"y\"`",
        ),
        (
            "reply\n  say <<END\n  x",
            (2, 7),
            "holds only `END`",
            "`<<END`",
        ),
        (
            "reply\n  say repeat 99999999 \"123456\"",
            (2, 7),
            "at most",
            "`repeat",
        ),
        (
            "reply\n  tool Bash",
            (2, 12),
            "a JSON object",
            "the end of the line",
        ),
        (
            "reply\n  tool Bash {\"a\":}",
            (2, 18),
            "valid JSON (expected value",
            "`}`",
        ),
        (
            "reply\n  tool Bash {\"a\":{\"$repeat\":[1]}}",
            (2, 13),
            "[text, count]",
            "`{\"a\"",
        ),
        (
            "reply\n  tool Bash <<E\n  {\n   \"a\" 1}\n  E",
            (4, 6),
            "valid JSON (expected `:`",
            "indentation",
        ),
        (
            "reply\n  block {\"text\":\"x\"}",
            (2, 9),
            "with a `type`",
            "`{\"text\"",
        ),
        ("reply\n  wait 5", (2, 8), "200ms", "`5`"),
        ("reply\n  wait 25000m", (2, 8), "200ms", "`25000m`"),
        ("reply\n  usage tokens=5", (2, 9), "input=N", "`tokens=5`"),
        ("reply\n  stop soon", (2, 8), "end_turn", "`soon`"),
        ("reply\n  error 200 \"x\"", (2, 9), "400 to 599", "`200"),
        (
            "reply\n  error 500 \"x\" a b=1",
            (2, 17),
            "a header",
            "`a b=1`",
        ),
        (
            "reply\n  cut\n  say \"x\"",
            (3, 3),
            "nothing is said after",
            "`say",
        ),
    ];
    for (script, (line, column), expected, found) in table {
        let error = Script::parse(script).unwrap_err();
        assert_eq!(
            (error.at.line, error.at.column),
            (line, column),
            "{script:?}: {error}"
        );
        assert!(error.expected.contains(expected), "{script:?}: {error}");
        assert!(error.found.contains(found), "{script:?}: {error}");
    }
}

#[test]
fn columns_count_characters_not_bytes() {
    let error = Script::parse("reply\n  say \"äöü\" x").unwrap_err();
    assert_eq!((error.at.line, error.at.column), (2, 13));
}

#[test]
fn an_unknown_variable_is_found_at_load_wherever_it_stands() {
    let table = [
        ("side \"${x}\"\nreply\nsay \"y\"", 1, 6),
        ("reply when \"${x}\"\nsay \"y\"", 1, 12),
        ("reply\nsay \"a\"\nthink \"${x}\"", 3, 7),
        ("reply\ntool A {\"a\":[{\"b\":\"${x}\"}]}", 2, 8),
        ("reply\nerror 400 \"${x}\"", 2, 11),
        (
            "reply\nsay \"${x}\"\nreply\ntake x after \"<\" until \">\"\nsay \"${x}\"",
            2,
            5,
        ),
    ];
    for (text, line, column) in table {
        let script = Script::parse(text).unwrap();
        let error = script.check(&Vars::new()).unwrap_err();
        assert_eq!(
            (error.name.as_str(), error.at),
            ("x", Position { line, column }),
            "{text:?}"
        );
        let vars = Vars::from([("x".to_owned(), "1".to_owned())]);
        assert_eq!(script.check(&vars), Ok(()), "{text:?}");
    }
}

#[test]
fn a_taken_variable_is_known_from_its_reply_on() {
    let script =
        Script::parse("reply\ntake x after \"<\" until \">\"\nsay \"${x}\"\nreply\nsay \"${x}\"")
            .unwrap();
    assert_eq!(script.check(&Vars::new()), Ok(()));
}
