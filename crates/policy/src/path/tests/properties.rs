//! What holds for every pattern, path and disk.

use proptest::prelude::*;

use super::*;
use crate::Disk;
use crate::path::{Closed, Touch};

/// Few names, so that patterns, paths and links often speak of the same.
const NAMES: [&str; 6] = ["a", "b", "c", "A", "x.md", "etc"];
const STEPS: [&str; 6] = ["*", "**", "?", "[a-c]", "*.md", "{a,b}"];
const FOLDERS: [&str; 8] = [
    "/base/project",
    "/base/project/a",
    "/base/project/b",
    "/base",
    "/base/home",
    "/etc",
    "..",
    "c",
];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn pattern_text() -> impl Strategy<Value = String> {
    let wildcard = prop::sample::select(&STEPS[..]).prop_map(str::to_owned);
    let step = prop_oneof![3 => name(), 1 => wildcard];
    let starts = ["", "", "./", "/", "//base/project/", "//", "~/"];
    let start = prop::sample::select(starts.to_vec());
    let steps = prop::collection::vec(step, 1..3);
    (start, steps, prop::bool::ANY).prop_map(|(start, steps, is_deep)| {
        let end = if is_deep { "/**" } else { "" };
        format!("{start}{}{end}", steps.join("/"))
    })
}

fn path_text() -> impl Strategy<Value = String> {
    let dots = prop::sample::select(vec!["..", ".", ""]).prop_map(str::to_owned);
    let step = prop_oneof![6 => name(), 1 => dots];
    let start = prop::sample::select(vec!["", "", "", "/", "/base/project/", "~/", "../"]);
    let steps = prop::collection::vec(step, 1..4);
    (start, steps).prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

/// A disk with up to six links between the folders that paths and patterns speak of.
fn disk() -> impl Strategy<Value = Ground> {
    let from = prop::sample::select(FOLDERS[..3].to_vec());
    let to = prop::sample::select(FOLDERS.to_vec());
    let link = (from, name(), to, prop::option::of(name())).prop_map(|(from, name, to, last)| {
        let last = last.map(|last| format!("/{last}")).unwrap_or_default();
        format!("{from}/{name}->{to}{last}")
    });
    let elsewhere = prop::sample::select(vec![
        "/a->/etc",
        "/base/home/a->/etc",
        "/etc/a->/base/project",
    ]);
    let links = prop::collection::vec(link, 1..6);
    (links, prop::option::of(elsewhere)).prop_map(|(links, elsewhere)| {
        let links: Vec<&str> = links.iter().map(String::as_str).chain(elsewhere).collect();
        Ground::with(&links)
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
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_allowed_is_restricted_too(ground in disk(), text in pattern_text(), path in path_text()) {
        if fit(&ground, &text, &path, Side::Allow).is_yes() {
            prop_assert!(fit(&ground, &text, &path, Side::Restrict).is_yes(), "{text} on {path}");
        }
    }

    #[test]
    fn nothing_is_allowed_whose_real_place_is_not_meant(ground in disk(), text in pattern_text(), path in path_text()) {
        let place = ground.place();
        // A link in the root of the disk is the system's own, and followed.
        if ground.disk.is_link(Path::new("/a")) {
            return Ok(());
        }
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
            prop_assert!(Closed::at(&place).why(&target, Touch::Read).is_some());
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
            Closed::at(&place).why(&target, touch);
            Closed::at(&place).why_below(&target, touch);
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
