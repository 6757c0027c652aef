//! Every kind of question decided by its form on the plain page: plans, forms of MCP servers, several questions at once.
//!
//! The page is read as HTML and nothing is sent but what its forms have.

use super::crash::{begin, card};
use super::http::{Answer, Browser};
use super::stage::{Daemon, Stage, until_shown};

fn started(stage: &Stage, scenario: &str) -> (Daemon, Browser, String) {
    let claude = stage.playing(scenario);
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    (daemon, browser, session)
}

/// Sends the card of this page with more fields.
fn press(browser: &Browser, page: &Answer, more: &[(&str, &str)]) -> Answer {
    let (saw, key) = (page.field("saw"), page.field("key"));
    let mut fields = vec![("saw", saw.as_str()), ("key", key.as_str())];
    fields.extend_from_slice(more);
    browser.post_form(&card(&page.body), &fields)
}

/// The values that the fields of this name offer.
fn offered(page: &str, name: &str) -> Vec<String> {
    let start = format!("name=\"{name}\" ");
    let fields = page.split(&start).skip(1);
    let values = fields.filter_map(|rest| {
        let tag = &rest[..rest.find('>')?];
        let from = tag.find("value=\"")? + "value=\"".len();
        Some(tag[from..from + tag[from..].find('"')?].to_owned())
    });
    values.collect()
}

#[test]
fn a_plan_is_sent_back_and_then_approved_by_its_form() {
    let scenario = "\
turn
  tool EnterPlanMode {}
  tool Write {\"file_path\":\"${plan_file}\",\"content\":\"# A long plan\\n\"}
  tool ExitPlanMode {}
  if refused
    tool Write {\"file_path\":\"${plan_file}\",\"content\":\"# A shorter plan\\n\"}
    tool ExitPlanMode {}
  end
  if refused
    say \"Not at all.\"
  else
    say \"Agreed.\"
  end
";
    let stage = Stage::new();
    let (_daemon, browser, session) = started(&stage, scenario);
    let mut page = until_shown(&browser, &session, "class=\"asks\"");
    if !page.body.contains("name=\"choice\"") {
        // Whether it may plan at all.
        assert_eq!(press(&browser, &page, &[("decision", "allow")]).status, 303);
        page = until_shown(&browser, &session, "name=\"choice\"");
    }
    assert!(page.body.contains("<pre># A long plan"), "{}", page.body);
    let ways = offered(&page.body, "choice");
    for way in ["manual", "keep-planning", "accept-edits"] {
        assert!(ways.contains(&way.to_owned()), "{ways:?}");
    }
    // What it needs is needed, what is none of its ways is refused, and the plan is still there.
    let silent = [("decision", "plan"), ("choice", "keep-planning")];
    assert_eq!(press(&browser, &page, &silent).status, 422);
    let other = [("decision", "plan"), ("choice", "bypass")];
    assert_eq!(press(&browser, &page, &other).status, 422);
    let back = [silent[0], silent[1], ("feedback", "shorter")];
    let answer = press(&browser, &page, &back);
    assert_eq!(answer.status, 303, "{answer:?}");
    let page = until_shown(&browser, &session, "<pre># A shorter plan");
    let page = match page.body.contains("name=\"choice\"") {
        true => page,
        false => until_shown(&browser, &session, "name=\"choice\""),
    };
    let answer = press(
        &browser,
        &page,
        &[("decision", "plan"), ("choice", "manual")],
    );
    assert_eq!(answer.status, 303, "{answer:?}");
    until_shown(&browser, &session, "Agreed.");
}

#[test]
fn what_cannot_be_undone_is_allowed_only_with_a_tick() {
    let scenario = "\
turn
  tool Bash {\"command\":\"rm -rf dist\",\"description\":\"Remove what was built\"}
  say \"Gone.\"
";
    let stage = Stage::new();
    std::fs::create_dir(stage.project().join("dist")).unwrap();
    let (_daemon, browser, session) = started(&stage, scenario);
    let page = until_shown(&browser, &session, "class=\"asks\"");
    assert!(
        page.body.contains("Cannot be undone: it removes files."),
        "{}",
        page.body
    );
    assert!(!page.body.contains("name=\"remember\""), "{}", page.body);
    let plain = press(&browser, &page, &[("decision", "allow")]);
    assert_eq!(plain.status, 422, "{plain:?}");
    assert!(stage.project().join("dist").exists());
    let ticked = press(&browser, &page, &[("decision", "allow"), ("sure", "yes")]);
    assert_eq!(ticked.status, 303, "{ticked:?}");
    until_shown(&browser, &session, "Gone.");
    assert!(!stage.project().join("dist").exists());
}

const SCHEMA: &str = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"}},\"required\":[\"name\"]}";

#[test]
fn a_form_of_an_mcp_server_is_filled_in_by_its_form() {
    let scenario = format!(
        "turn\n  elicit calc \"Who are you?\" {SCHEMA} nowait\n  \
         expect control_response {{\"response\":{{\"response\":{{\"action\":\"accept\",\"content\":{{\"name\":\"Ada\",\"age\":36}}}}}}}} within 60s\n  \
         say \"Thank you.\"\n"
    );
    let stage = Stage::new();
    let (_daemon, browser, session) = started(&stage, &scenario);
    let page = until_shown(&browser, &session, "class=\"asks\"");
    assert!(page.body.contains("Who are you?"), "{}", page.body);
    assert!(
        page.body.contains("<textarea name=\"values\">"),
        "{}",
        page.body
    );
    for bad in ["no JSON", "{\"age\":\"old\"}", "[1]"] {
        let answer = press(&browser, &page, &[("decision", "values"), ("values", bad)]);
        assert_eq!(answer.status, 422, "{bad}: {answer:?}");
    }
    let values = [
        ("decision", "values"),
        ("values", "{\"name\":\"Ada\",\"age\":36}"),
    ];
    let answer = press(&browser, &page, &values);
    assert_eq!(answer.status, 303, "{answer:?}");
    until_shown(&browser, &session, "Thank you.");
}

#[test]
fn a_form_of_an_mcp_server_is_declined_by_its_form() {
    let scenario = format!(
        "turn\n  elicit calc \"Who are you?\" {SCHEMA} nowait\n  \
         expect control_response {{\"response\":{{\"response\":{{\"action\":\"decline\"}}}}}} within 60s\n  say \"Never mind.\"\n"
    );
    let stage = Stage::new();
    let (_daemon, browser, session) = started(&stage, &scenario);
    let page = until_shown(&browser, &session, "class=\"asks\"");
    let answer = press(&browser, &page, &[("decision", "decline")]);
    assert_eq!(answer.status, 303, "{answer:?}");
    until_shown(&browser, &session, "Never mind.");
}

#[test]
fn several_questions_are_answered_at_once_ticked_and_in_own_words() {
    let scenario = concat!(
        "turn\n  tool AskUserQuestion {\"questions\":[",
        "{\"question\":\"Which parts?\",\"header\":\"Parts\",\"multiSelect\":true,\"options\":[{\"label\":\"Title\",\"description\":\"t\"},{\"label\":\"Clock\",\"description\":\"c\"},{\"label\":\"Foot\",\"description\":\"f\"}]},",
        "{\"question\":\"Which colour?\",\"header\":\"Colour\",\"multiSelect\":false,\"options\":[{\"label\":\"red\",\"description\":\"warm\"},{\"label\":\"blue\",\"description\":\"cold\"}]}]}\n",
        "  say \"I was told: ${result}\"\n"
    );
    let stage = Stage::new();
    let (_daemon, browser, session) = started(&stage, scenario);
    let page = until_shown(&browser, &session, "Which parts?</legend>");
    assert_eq!(offered(&page.body, "q0"), ["Title", "Clock", "Foot"]);
    let fields = [
        ("decision", "answer"),
        ("q0", "Title"),
        ("q0", "Foot"),
        ("q1", "red"),
        ("own1", "like the sea"),
    ];
    let answer = press(&browser, &page, &fields);
    assert_eq!(answer.status, 303, "{answer:?}");
    let page = until_shown(&browser, &session, "I was told: ");
    let said = &page.body[page.body.find("I was told: ").unwrap()..];
    assert!(
        said.contains("Title, Foot") && said.contains("like the sea"),
        "{said}"
    );
}
