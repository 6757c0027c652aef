//! Tables and properties of paths. The disk is a map; `place.rs` has the same on a real one.
#![cfg(unix)]

mod below;
mod expand;
mod properties;
mod protected;
mod table;
mod targets;

use std::path::Path;

use super::testing::Ground;
use super::{PathPattern, Target};
use crate::Fit;
use crate::shell::Side;

/// A disk with every kind of link.
fn ground() -> Ground {
    Ground::with(&[
        "/base/project/src/a.rs",
        "/base/project/src/deep/b.rs",
        "/base/project/lib/src/a.rs",
        "/base/project/.env",
        "/base/project/sub/.env",
        "/base/project/notes.txt",
        "/base/project/sec/k",
        "/base/project/.git/config",
        "/base/project/passwd->/etc/passwd",
        "/base/project/etc->/etc",
        "/base/project/inner->src",
        "/base/project/env2->./sub/.env",
        "/base/project/up->..",
        "/base/project/ring->ring2",
        "/base/project/ring2->ring",
        "/base/project/gone->/nowhere/x",
        "/base/project/soon->src/new.rs",
        "/base/project/hop->/hop/one",
        "/base/project/vault->/vault",
        "/base/project/me->/proc/self/cwd",
        "/base/project/fine.txt->notes.txt",
        "/base/other/.env",
        "/base/other/secrets/k",
        "/base/home/doc/x",
        "/base/home/.ssh/id",
        "/base/locked/!",
        "/hop/one->/hop/two",
        "/hop/two->/etc",
        "/vault/key",
        "/linked->/base/project",
        "/private/var/log/x",
        "/var->/private/var",
        "/proc/self->42",
        "/proc/42/cwd->/base/project",
        "/proc/42/root->/",
        "/proc/42/environ",
        "/proc/cpuinfo",
        "/dev/null",
        "/dev/fd->/proc/self/fd",
        "/dev/stdout->/proc/self/fd/1",
    ])
}

fn pattern(text: &str) -> PathPattern {
    PathPattern::parse(text, Path::new("/base/project")).unwrap()
}

fn fit(ground: &Ground, text: &str, path: &str, side: Side) -> Fit {
    let place = ground.place();
    let target = Target::of(path, place.cwd, &place);
    pattern(text).fits(&target, &place, side)
}

/// `y`, `m` or `n`.
fn letter(fit: &Fit) -> char {
    match fit {
        Fit::Yes => 'y',
        Fit::Maybe(_) => 'm',
        Fit::No => 'n',
    }
}

#[test]
fn a_text_with_no_clear_meaning_is_an_error_that_says_what_to_write() {
    for (text, hint) in [
        ("", "`src/**`"),
        ("   ", "`src/**`"),
        ("!x", "denies"),
        ("~alice/x", "`//`"),
        ("~+", "`//`"),
        ("a[b", "`\\[`"),
        ("a\\", "`\\\\`"),
        ("a\u{7}b", "`?`"),
        ("a\0b", "`?`"),
        ("*/../x", "without it"),
        ("**/../x", "without it"),
        ("/../x", "`//`"),
        ("~/../x", "`//`"),
        ("//..", "`//`"),
        ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "several rules"),
    ] {
        let error = PathPattern::parse(text, Path::new("/base/project")).unwrap_err();
        assert!(error.contains(hint), "{text}: {error}");
    }
    let long = "x".repeat(5000);
    assert!(PathPattern::parse(&long, Path::new("/base")).is_err());
    assert!(PathPattern::parse("/x", Path::new("not/absolute")).is_err());
}
