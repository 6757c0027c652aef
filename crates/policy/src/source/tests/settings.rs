//! Settings of Claude Code.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{problems, rules};
use crate::rule::FileKind;
use crate::source::{Read, settings};

fn read(text: &str) -> Read {
    settings(
        text,
        Path::new("s.json"),
        FileKind::User,
        Path::new("/base"),
    )
}

#[test]
fn rules_come_with_their_lines() {
    let found = read(
        r#"{
  "model": "opus",
  "permissions": {
    "allow": ["Bash(ls:*)",
      "Read(src/**)"],
    "deny": [ "Bash(rm:*)" ],
    "ask": ["WebFetch"],
    "additionalDirectories": ["../other", "~/notes"],
    "defaultMode": "plan"
  },
  "hooks": {"anything": [1, {"permissions": 2}]}
}"#,
    );
    assert_eq!(
        rules(&found),
        [
            "deny Bash(rm:*) @s.json:6",
            "ask WebFetch @s.json:7",
            "allow Bash(ls:*) @s.json:4",
            "allow Read(src/**) @s.json:5",
        ]
    );
    assert_eq!(
        found.add_dirs,
        [PathBuf::from("../other"), PathBuf::from("~/notes")]
    );
    assert_eq!(found.default_mode.as_deref(), Some("plan"));
    assert_eq!(found.problems, []);
    assert!(found.is_safe());
}

#[test]
fn a_file_that_says_nothing_about_rules_is_fine() {
    for text in [
        "",
        "  \n",
        "{}",
        "{\"model\":\"opus\"}",
        "{\"permissions\":null}",
        "{\"permissions\":{}}",
        "\u{feff}{}",
    ] {
        assert_eq!(read(text), Read::default(), "{text:?}");
    }
}

#[test]
fn an_escaped_rule_is_the_rule() {
    let found = read(r#"{"permissions":{"deny":["Bash\u0028rm:*)"]}}"#);
    assert_eq!(rules(&found), ["deny Bash(rm:*) @s.json:1"]);
}

#[test]
fn a_broken_deny_or_ask_stops_and_a_broken_allow_allows_nothing() {
    let found = read("{\"permissions\":{\"allow\":[\"Bash(\",\"Read\"]}}");
    assert_eq!(rules(&found), ["allow Read @s.json:1"]);
    assert!(found.is_safe());
    assert_eq!(found.problems.len(), 1);
    for list in ["deny", "ask"] {
        let found = read(&format!(
            "{{\"permissions\":{{\n \"{list}\":[\"Bash(\",\"Read\"]}}}}"
        ));
        assert_eq!(found.rules.len(), 1, "the other rule is kept");
        assert!(!found.is_safe());
        assert_eq!(
            problems(&found.problems),
            ["stops s.json:2:10: `Bash(` is no rule: the bracket is not closed; write `Tool(content)`"].map(|text| {
                text.replace(":10", if list == "deny" { ":10" } else { ":9" })
            })
        );
    }
}

#[test]
fn nothing_that_may_hold_a_deny_is_passed_over() {
    for text in [
        "{",
        "[]",
        "3",
        "{\"permissions\": []}",
        "{\"permissions\": \"deny\"}",
        "{\"permissions\": {\"deny\": \"Bash\"}}",
        "{\"permissions\": {\"deny\": {\"Bash\": true}}}",
        "{\"permissions\": {\"deny\": null}}",
        "{\"permissions\": {\"ask\": [3]}}",
        "{\"permissions\": {\"deny\": [\"Bash\"], \"deny\": []}}",
        "{\"permissions\": {\"deny\": [\"Bash\"]}, \"permissions\": {}}",
        "{\"permissions\": {\"deny\": [\"Bash\"]}} trailing",
        "// a comment\n{\"permissions\": {\"deny\": [\"Bash\"]}}",
        "{\"permissions\": {\"deny\": [\"\\ud800\"]}}",
    ] {
        let found = read(text);
        assert!(!found.is_safe(), "{text}: {found:?}");
        assert!(!found.problems[0].fix.is_empty());
    }
}

#[test]
fn a_misspelt_list_is_told() {
    let found = read(
        "{\"permissions\": {\"denied\": [\"Bash\"], \"disableBypassPermissionsMode\": \"disable\"}}",
    );
    assert!(found.is_safe(), "Claude Code ignores it, too");
    assert_eq!(
        problems(&found.problems),
        [
            "s.json:1:28: Claude Code knows no list `denied` here, so it does nothing: rules stand under `allow`, `ask` or `deny`"
        ]
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        read(&text);
        read(&format!("{{\"permissions\":{text}}}"));
        read(&format!("{{\"permissions\":{{\"deny\":[{text}]}}}}"));
    }

    /// Whatever else stands in the list, a deny rule is there or the file is not safe.
    #[test]
    fn a_deny_is_kept_or_told(items in prop::collection::vec("\\PC{0,12}", 0..6), at in 0usize..6) {
        let mut items: Vec<String> = items.iter().map(|item| serde_json::to_string(item).unwrap()).collect();
        items.insert(at.min(items.len()), "\"Bash(rm:*)\"".to_owned());
        let found = read(&format!("{{\"permissions\":{{\"deny\":[{}]}}}}", items.join(",")));
        prop_assert!(found.rules.iter().any(|rule| rule.matcher.text == "Bash(rm:*)"));
        prop_assert_eq!(found.rules.len() + found.problems.len(), items.len());
        prop_assert_eq!(found.is_safe(), found.problems.is_empty());
    }
}
