//! What holds for every pattern, path and disk.

use proptest::prelude::*;

use super::*;
use crate::Disk;
use crate::path::{Touch, protected, protected_below};

const NAMES: [&str; 12] = [
    "a", "b", "c", "A", "src", ".env", "passwd", "etc", "base", "project", "x.md", "ring",
];
const STEPS: [&str; 6] = ["*", "**", "?", "[a-c]", "*.md", "{a,b}"];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn pattern_text() -> impl Strategy<Value = String> {
    let step =
        prop_oneof![3 => name(), 1 => prop::sample::select(&STEPS[..]).prop_map(str::to_owned)];
    let start = prop::sample::select(&["", "", "./", "/", "//", "//base/", "~/"][..]);
    (start, prop::collection::vec(step, 1..4), prop::bool::ANY).prop_map(
        |(start, steps, is_deep)| {
            format!(
                "{start}{}{}",
                steps.join("/"),
                if is_deep { "/**" } else { "" }
            )
        },
    )
}

fn path_text() -> impl Strategy<Value = String> {
    let step = prop_oneof![6 => name(), 1 => Just("..".to_owned()), 1 => Just(".".to_owned()), 1 => Just(String::new())];
    let start = prop::sample::select(&["", "", "/", "/base/project/", "~/", "../"][..]);
    (start, prop::collection::vec(step, 1..6))
        .prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

/// A disk with up to six links between folders that paths and patterns speak of.
fn disk() -> impl Strategy<Value = Ground> {
    let folder = || {
        prop::sample::select(
            &[
                "/base/project",
                "/base/project/a",
                "/base",
                "/base/home",
                "/etc",
                "/",
                "a",
                "..",
            ][..],
        )
    };
    let link = (folder(), name(), folder(), prop::option::of(name())).prop_map(
        |(from, name, to, last)| {
            let from = if from.starts_with('/') {
                from
            } else {
                "/base/project/src"
            };
            let to = last.map_or(to.to_owned(), |last| {
                format!("{}/{last}", to.trim_end_matches('/'))
            });
            format!("{}/{name}->{to}", from.trim_end_matches('/'))
        },
    );
    prop::collection::vec(link, 0..6).prop_map(|links| {
        let kept: Vec<&str> = links
            .iter()
            .map(String::as_str)
            .filter(|link| !link.starts_with("/base->"))
            .collect();
        Ground::with(&kept)
    })
}

/// Whether the pattern means the path by its letters alone, on a disk without links.
fn meant_by_letters(text: &str, path: &Path) -> bool {
    let plain = Ground::with(&[]);
    let place = plain.place();
    let target = Target {
        shown: String::new(),
        lexical: path.to_owned(),
        real: Some(path.to_owned()),
    };
    pattern(text).fits(&target, &place, Side::Allow).is_yes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_allowed_is_restricted_too(ground in disk(), text in pattern_text(), path in path_text()) {
        if fit(&ground, &text, &path, Side::Allow).is_yes() {
            prop_assert!(fit(&ground, &text, &path, Side::Restrict).is_yes(), "{text} on {path}");
        }
    }

    #[test]
    fn nothing_is_allowed_whose_real_place_is_not_meant(ground in disk(), text in pattern_text(), path in path_text()) {
        let place = ground.place();
        // Links at the root of the disk and on the way to the working folder are the system's, and followed.
        let is_plain = |path: &str| ground.disk.real(Path::new(path)).as_deref() == Some(Path::new(path));
        prop_assume!(NAMES.iter().all(|name| is_plain(&format!("/{name}"))) && is_plain("/base/project") && is_plain("/base/home"));
        let target = Target::of(&path, place.cwd, &place);
        if pattern(&text).fits(&target, &place, Side::Allow).is_yes() {
            let real = ground.disk.real(&target.lexical).unwrap();
            prop_assert!(meant_by_letters(&text, &real), "{text} on {path}, really {}", real.display());
            prop_assert!(meant_by_letters(&text, &target.lexical), "{text} on {path}");
        }
    }

    #[test]
    fn nothing_outside_is_allowed_by_a_relative_pattern(ground in disk(), text in pattern_text(), path in path_text()) {
        let text = text.trim_start_matches(['/', '~']);
        let place = ground.place();
        let target = Target::of(&path, place.cwd, &place);
        if pattern(text).fits(&target, &place, Side::Allow).is_yes() {
            prop_assert!(target.is_inside(&place));
            prop_assert!(target.real.unwrap().starts_with(ground.disk.real(place.cwd).unwrap()));
        }
    }

    #[test]
    fn what_leads_to_a_restricted_place_is_restricted(ground in disk(), text in pattern_text(), path in path_text()) {
        let place = ground.place();
        let target = Target::of(&path, place.cwd, &place);
        if let Some(real) = &target.real
            && fit(&ground, &text, real.to_str().unwrap(), Side::Restrict).is_yes()
        {
            prop_assert!(fit(&ground, &text, &path, Side::Restrict).is_yes(), "{text} on {path}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_never_surely_free(ground in disk(), text in pattern_text(), path in path_text()) {
        let place = ground.place();
        let target = Target::of(&path, place.cwd, &place);
        if target.real.is_none() {
            prop_assert!(!target.is_inside(&place));
            prop_assert!(fit(&ground, &text, &path, Side::Allow).is_no());
            prop_assert!(!fit(&ground, &text, &path, Side::Restrict).is_no());
            prop_assert!(protected(&target, Touch::Read, &place).is_some());
        }
    }

    #[test]
    fn a_folder_holds_what_a_path_in_it_means(ground in disk(), text in pattern_text(), entry in name(), more in name()) {
        // Whatever of the disk is meant lies below the root.
        let place = ground.place();
        let path = format!("/base/project/{entry}/{more}");
        if ground.disk.exists(Path::new(&path)) && fit(&ground, &text, &path, Side::Restrict).is_yes() {
            let folder = Target::of("/base/project", place.cwd, &place);
            prop_assert!(!pattern(&text).is_below(&folder, &place).is_no(), "{text} on {path}");
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", path in ".*", folder in ".*") {
        let ground = ground();
        let place = ground.place();
        let target = Target::of(&path, Path::new(&folder), &place);
        for touch in [Touch::Read, Touch::Write] {
            protected(&target, touch, &place);
            protected_below(&target, touch, &place);
        }
        for text in [text.as_str(), &path] {
            if let Ok(pattern) = PathPattern::parse(text, Path::new("/base/project")) {
                pattern.fits(&target, &place, Side::Allow);
                pattern.fits(&target, &place, Side::Restrict);
                pattern.is_below(&target, &place);
                pattern.may_name(&path, Path::new("/base/project"), &place);
            }
        }
    }
}
