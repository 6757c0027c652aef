//! What lies in a folder.

use super::super::below::MOST_ENTRIES;
use super::*;

fn below(ground: &Ground, text: &str, folder: &str) -> Fit {
    let place = ground.place();
    pattern(text).is_below(&Target::of(folder, place.cwd, &place), &place)
}

#[test]
fn what_is_meant_is_found_at_any_depth() {
    let ground = ground();
    let mut wrong = Vec::new();
    for (text, folder, expected) in [
        (".env", ".", 'y'),
        (".env", "sub", 'y'),
        (".env", "src", 'n'),
        (".env", "..", 'y'),
        ("*.rs", "lib", 'y'),
        ("*.pem", "lib", 'n'),
        ("sec/k", ".", 'y'),
        ("sec/nope", "sec", 'n'),
        ("sec/**", ".", 'y'),
        ("sec/*", "/base", 'y'),
        ("lib/s*/a.rs", ".", 'y'),
        ("lib/s*/b.rs", "lib", 'n'),
        // In it already.
        ("src/**", "src/deep", 'y'),
        ("//etc/**", "/etc", 'y'),
        // Elsewhere: found by a link only.
        ("~/.ssh/**", "sub", 'n'),
        ("~/.ssh/**", ".", 'm'),
        ("~/.ssh/**", "~", 'y'),
        ("~/.ssh/**", "/", 'y'),
        ("//etc/shadow", "/etc", 'y'),
        ("//etc/sha?ow", "/etc", 'y'),
        // A link in it that leads to what is meant; one that leads out to where it may be.
        ("//etc/passwd", ".", 'y'),
        ("//etc/passwd", "/base", 'y'),
        ("//etc/sh*", "lib", 'n'),
        ("//etc/sh*", ".", 'm'),
        ("//base/other/.env", "up", 'y'),
        ("vault/**", ".", 'y'),
        ("sec/nope", ".", 'm'),
        ("*.pem", "/private", 'n'),
        (".env", "/base/other", 'y'),
        (".env", "/base/other/secrets", 'n'),
        ("secrets", "/base/other", 'y'),
        ("secrets", "/base/other/secrets", 'y'),
        ("secrets", "/base/other/secrets/x", 'm'),
        // Unknown.
        ("*.pem", "ring", 'm'),
        ("*.pem", "/base/locked", 'm'),
        ("*.pem", "/base", 'm'),
        // No folder, or nothing.
        ("*.pem", "src/a.rs", 'n'),
        ("*.pem", "nope", 'n'),
        ("a.rs", "src/a.rs", 'y'),
    ] {
        let fit = below(&ground, text, folder);
        if letter(&fit) != expected {
            wrong.push(format!("{text} below {folder}: {fit:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_link_that_leads_out_may_lead_to_what_is_meant() {
    let ground = Ground::with(&[
        "/base/project/x/out->/far",
        "/far/y/.env",
        "/base/project/x/in->a",
        "/base/project/x/a/b",
    ]);
    assert_eq!(letter(&below(&ground, ".env", "x")), 'm');
    let ground = Ground::with(&["/base/project/x/in->a", "/base/project/x/a/b"]);
    for (text, expected) in [
        (".env", 'n'),
        ("**/.env", 'n'),
        ("x/i?/c", 'm'),
        ("i?/c", 'n'),
    ] {
        assert_eq!(letter(&below(&ground, text, "x")), expected, "{text}");
    }
}

#[test]
fn more_than_can_be_looked_through_is_perhaps() {
    let many: Vec<String> = (0..=MOST_ENTRIES)
        .map(|n| format!("/base/project/many/{n}"))
        .collect();
    let words: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(letter(&below(&Ground::with(&words), "*.pem", "many")), 'm');
    assert_eq!(
        letter(&below(&Ground::with(&words[..100]), "*.pem", "many")),
        'n'
    );
}
