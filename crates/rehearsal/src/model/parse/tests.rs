//! What scripts are read as, and what is said about those that cannot be read.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::model::Vars;

#[test]
fn a_script_holds_its_header_and_its_replies_in_order() {
    let script = Script::parse(
        r#"# a script
        side "fine"
        main any
        reply 3 times side when "a b"   # a comment
          think "Hm."
          say "Two\nlines # no comment"
          tool Bash {"command": "echo '# no comment'", "big": {"$repeat": ["ab", 3]}}
          say repeat 3 "word "
          say <<END
            one
              two
          END
          wait 200ms
          chunk 4
          error 529 "Over" retry-after=1 type=odd_error
          stop max_tokens
          usage input=12 cache_read=5
        reply always in "x"
          cut reset
        "#,
    )
    .unwrap();
    assert_eq!(
        (script.side.as_deref(), script.main_any),
        (Some("fine"), true)
    );
    let first = &script.replies[0];
    assert_eq!((first.line, first.side, first.times), (4, true, Some(3)));
    assert_eq!(first.matcher, Some(Matcher::Newest("a b".to_owned())));
    let say = |text: &str| Part::Say(text.to_owned());
    let parts = [
        Part::Think("Hm.".to_owned()),
        say("Two\nlines # no comment"),
        Part::Tool {
            name: "Bash".to_owned(),
            input: json!({"command": "echo '# no comment'", "big": "ababab"}),
        },
        say("word word word "),
        say("one\n  two"),
        Part::Wait(Duration::from_millis(200)),
        Part::Chunk(4),
        Part::Error {
            status: 529,
            kind: "odd_error".to_owned(),
            text: "Over".to_owned(),
            headers: vec![("retry-after".to_owned(), "1".to_owned())],
        },
    ];
    assert_eq!(first.parts, parts);
    assert_eq!(first.stop.as_ref().unwrap().reason, "max_tokens");
    assert_eq!((first.usage.input, first.usage.output), (Some(12), None));
    let second = &script.replies[1];
    assert_eq!(second.matcher, Some(Matcher::First("x".to_owned())));
    assert_eq!(
        (second.times, &second.parts[..]),
        (None, &[Part::Cut { reset: true }][..])
    );
    for text in ["", "# nothing\n\n", "\u{feff}", "\r\n"] {
        assert_eq!(Script::parse(text).unwrap().replies(), 0, "{text:?}");
    }
}

/// Script, place of the error, a part of what was expected, a part of what was found.
type Case = (&'static str, (usize, usize), &'static str, &'static str);

#[test]
fn errors_name_the_place_and_what_may_stand_there() {
    let table: [Case; 11] = [
        ("say \"x\"", (1, 1), "`reply`", "`say"),
        ("main many", (1, 6), "`any` or `tools`", "`many`"),
        (
            "reply\n  shout \"x\"",
            (2, 3),
            "`reply` or a step",
            "`shout",
        ),
        ("reply 0 times", (1, 7), "at least 1", "`0 times`"),
        ("reply when \"\"", (1, 12), "not empty", "`\"\"`"),
        (
            "reply\nwait 1s\nreply\nsay \"x\"",
            (1, 1),
            "says something",
            "none",
        ),
        (
            "reply\n  say repeat 99999999 \"123456\"",
            (2, 7),
            "at most",
            "`repeat",
        ),
        (
            "reply\n  tool Bash {\"a\":{\"$repeat\":[1]}}",
            (2, 13),
            "[text, count]",
            "`{\"a\"",
        ),
        (
            "reply\n  block {\"text\":\"x\"}",
            (2, 9),
            "with a `type`",
            "`{\"text\"",
        ),
        ("reply\n  error 200 \"x\"", (2, 9), "400 to 599", "`200"),
        (
            "reply\n  cut\n  say \"x\"",
            (3, 3),
            "nothing is said after",
            "`say",
        ),
    ];
    for (script, (line, column), expected, found) in table {
        let error = Script::parse(script).unwrap_err();
        assert_eq!(error.at, Position { line, column }, "{script:?}: {error}");
        assert!(error.expected.contains(expected), "{script:?}: {error}");
        assert!(error.found.contains(found), "{script:?}: {error}");
    }
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
        let at = Position { line, column };
        assert_eq!((error.name.as_str(), error.at), ("x", at), "{text:?}");
        let vars = Vars::from([("x".to_owned(), "1".to_owned())]);
        assert_eq!(script.check(&vars), Ok(()), "{text:?}");
    }
    let taken = "reply\ntake x after \"<\" until \">\"\nsay \"${x}\"\nreply\nsay \"${x}\"";
    assert_eq!(Script::parse(taken).unwrap().check(&Vars::new()), Ok(()));
}
