//! Which targets are sound, and that nothing of theirs shows.

use super::*;

const SECRET: &str = "0123456789abcdef";
const URL: &str = "https://hooks.example.com/services/T0/B0/abcdefgh";

fn webhook(url: &str, secret: Option<&str>, shape: Shape) -> Target {
    Target {
        name: "chat".to_owned(),
        on: Target::usual(),
        to: To::Webhook {
            url: Secret::new(url),
            secret: secret.map(Secret::new),
            headers: BTreeMap::new(),
            shape,
        },
    }
}

fn program(argv: &[&str]) -> Target {
    Target {
        name: "bell".to_owned(),
        on: Target::usual(),
        to: To::Program {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            cwd: None,
            env: Vec::new(),
        },
    }
}

#[test]
fn only_whole_addresses_of_http_without_a_password_are_taken() {
    for good in [
        URL,
        "http://127.0.0.1:8080",
        "http://[::1]:1/x?y=z",
        "https://h/#part",
    ] {
        assert_eq!(
            webhook(good, Some(SECRET), Shape::Full).check(),
            Ok(()),
            "{good}"
        );
    }
    for bad in [
        "",
        "/hook",
        "example.com/hook",
        "ftp://example.com/x",
        "file:///etc/passwd",
        "https://user:word@example.com/",
        "https:///x",
        "http://a b/",
    ] {
        let target = webhook(bad, Some(SECRET), Shape::Full);
        assert!(
            matches!(target.check(), Err(BadTarget::Url { .. })),
            "{bad}"
        );
    }
}

#[test]
fn a_post_is_signed_unless_it_goes_to_a_chat() {
    assert!(matches!(
        webhook(URL, None, Shape::Full).check(),
        Err(BadTarget::NoSecret(_))
    ));
    assert!(matches!(
        webhook(URL, Some("short"), Shape::Text).check(),
        Err(BadTarget::NoSecret(_))
    ));
    assert_eq!(webhook(URL, None, Shape::Text).check(), Ok(()));
}

#[test]
fn headers_of_ours_and_broken_ones_are_refused() {
    for (header, value, fits) in [
        ("Authorization", "Bearer x", true),
        ("Host", "other.example.com", false),
        ("content-LENGTH", "5", false),
        ("Countersign-Signature", "t=0", false),
        ("Two Words", "x", false),
        ("X-A", "a\r\nX-B: b", false),
    ] {
        let mut target = webhook(URL, Some(SECRET), Shape::Full);
        let To::Webhook { headers, .. } = &mut target.to else {
            panic!("a webhook");
        };
        headers.insert(header.to_owned(), Secret::new(value));
        assert_eq!(target.check().is_ok(), fits, "{header}");
    }
}

#[test]
fn a_program_is_words() {
    assert_eq!(program(&["notify-send", "Countersign"]).check(), Ok(()));
    assert!(matches!(program(&[]).check(), Err(BadTarget::NoProgram(_))));
    assert!(matches!(
        program(&["", "x"]).check(),
        Err(BadTarget::NoProgram(_))
    ));
    assert!(matches!(
        program(&["x", "a\0b"]).check(),
        Err(BadTarget::Nul(_))
    ));
    let mut target = program(&["x"]);
    target.name = "a b".to_owned();
    assert_eq!(target.check(), Err(BadTarget::Name));
}

#[test]
fn nothing_of_an_address_shows_but_its_host() {
    let mut target = webhook(URL, Some(SECRET), Shape::Full);
    if let To::Webhook { headers, .. } = &mut target.to {
        headers.insert(
            "Authorization".to_owned(),
            Secret::new("Bearer abcdefghijkl"),
        );
    }
    let error = webhook(
        "ftp://hooks.example.com/services/T0",
        Some(SECRET),
        Shape::Full,
    )
    .check()
    .unwrap_err();
    for shown in [
        format!("{target:?}"),
        target.place(),
        error.to_string(),
        target.shown(&format!(
            "no /services/T0/B0/abcdefgh here, {SECRET} and abcdefghijkl"
        )),
    ] {
        for hidden in ["services", SECRET, "abcdefgh"] {
            assert!(!shown.contains(hidden), "{hidden} in {shown}");
        }
    }
    assert_eq!(target.place(), "https://hooks.example.com/…");
}

#[test]
fn a_target_is_stored_whole_and_read_with_the_usual_events() {
    let target = webhook(URL, Some(SECRET), Shape::Full);
    let text = serde_json::to_string(&target).unwrap();
    assert_eq!(serde_json::from_str::<Target>(&text).unwrap(), target);
    let short = r#"{"name":"bell","to":{"kind":"program","argv":["x"]}}"#;
    let read: Target = serde_json::from_str(short).unwrap();
    assert!(read.wants(Kind::NeedsYou) && read.wants(Kind::Test));
    assert!(!read.wants(Kind::Stalled));
    let typo = r#"{"name":"bell","one":[],"to":{"kind":"program","argv":["x"]}}"#;
    assert!(serde_json::from_str::<Target>(typo).is_err());
}
