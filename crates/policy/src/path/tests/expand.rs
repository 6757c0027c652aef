//! What a shell makes of a word.

use super::*;

fn named(ground: &Ground, text: &str, word: &str, folder: &str) -> Fit {
    pattern(text).may_name(word, Path::new(folder), &ground.place())
}

#[test]
fn a_glob_is_what_the_disk_has_for_it() {
    let ground = ground();
    let mut wrong = Vec::new();
    for (text, word, folder, expected) in [
        (".env", ".env", "/base/project", 'y'),
        (".env", ".en?", "/base/project", 'y'),
        (".env", ".e*", "/base/project", 'y'),
        (".env", ".[e]nv", "/base/project", 'y'),
        (".env", "*/.env", "/base/project", 'y'),
        (".env", "s*/.e*", "/base/project", 'y'),
        (".env", "./.en*", "/base/project", 'y'),
        (".env", "/base/project/.en*", "/", 'y'),
        (".env", "/base/*/.env", "/", 'y'),
        (".env", ".env{,.local}", "/base/project", 'y'),
        (".env", ".{e,f}nv", "/base/project", 'y'),
        (".env", ".e{n,m}?", "/base/project", 'y'),
        (".env", "sub/../.en?", "/base/project", 'y'),
        ("~/.ssh/**", "~/.ss?/id", "/base/project", 'y'),
        ("~/.ssh/**", "~/.ssh/*", "/base/project", 'y'),
        ("//etc/shadow", "/e?c/sh*", "/base/project", 'y'),
        ("//etc/shadow", "et?/sh*", "/base/project", 'y'),
        ("//etc/passwd", "pass*", "/base/project", 'y'),
        // Found only by a shell that is set up for it.
        (".env", "*", "/base/other", 'm'),
        (".env", "?env", "/base/project", 'm'),
        (".env", ".EN?", "/base/project", 'm'),
        (".env", "**/x", "/base/project", 'm'),
        ("src/a.rs", "**", "/base/project", 'm'),
        // Not known.
        (".env", "$X", "/base/project", 'm'),
        (".env", "@(.env|x)", "/base/project", 'm'),
        (".env", "{a..z}", "/base/project", 'm'),
        (".env", "\\.en*", "/base/project", 'm'),
        (".env", "/base/locked/*", "/base/project", 'm'),
        (".env", "rin?/x", "/base/project", 'm'),
        (".env", &"{a,b}".repeat(7), "/base/project", 'm'),
        (".env", ".en[[:alpha:]]", "/base/project", 'm'),
        (".env", ".e*[", "/base/project", 'm'),
        // Not that.
        (".env", "*.rs", "/base/project", 'n'),
        (".env", "src/*", "/base/project", 'n'),
        (".env", "*.md", "/base/project", 'n'),
        (".env", "nope/*", "/base/project", 'n'),
        (".env", "notes.txt/*", "/base/project", 'n'),
        (".env", "src/*/x", "/base/project", 'n'),
        (".env", "{a,b}", "/base/project", 'n'),
        (".env", "x[", "/base/project", 'n'),
    ] {
        let fit = named(&ground, text, word, folder);
        if letter(&fit) != expected {
            wrong.push(format!("{text} by {word} in {folder}: {fit:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_glob_that_finds_nothing_is_its_own_letters() {
    let ground = Ground::with(&[]);
    assert_eq!(
        letter(&named(&ground, "\\*.rs", "*.rs", "/base/project")),
        'y'
    );
    assert_eq!(
        letter(&named(&ground, "*.rs", "*.rs", "/base/project")),
        'y'
    );
    assert_eq!(
        letter(&named(&ground, "a.rs", "*.rs", "/base/project")),
        'n'
    );
}
