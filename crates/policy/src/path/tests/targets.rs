//! What a text means as a path.

use super::*;

#[test]
fn a_text_is_made_absolute_and_followed() {
    let ground = ground();
    let place = ground.place();
    for (given, lexical, real) in [
        (
            "src/a.rs",
            "/base/project/src/a.rs",
            Some("/base/project/src/a.rs"),
        ),
        ("", "/base/project", Some("/base/project")),
        (".", "/base/project", Some("/base/project")),
        ("..", "/base", Some("/base")),
        ("/", "/", Some("/")),
        ("//etc//passwd", "/etc/passwd", Some("/etc/passwd")),
        ("~", "/base/home", Some("/base/home")),
        ("~/x/../y", "/base/home/y", Some("/base/home/y")),
        ("~//x", "/base/home/x", Some("/base/home/x")),
        ("~root", "/base/project/~root", None),
        ("x/~", "/base/project/x/~", Some("/base/project/x/~")),
        ("passwd", "/base/project/passwd", Some("/etc/passwd")),
        ("etc/../x", "/base/project/x", Some("/x")),
        ("etc/../passwd", "/base/project/passwd", None),
        ("ring", "/base/project/ring", None),
        ("me", "/base/project/me", None),
        ("/dev/stdout", "/dev/stdout", Some("/dev/stdout")),
        ("/dev/../dev/fd/0", "/dev/fd/0", None),
        (" x ", "/base/project/x", Some("/base/project/ x ")),
        (" passwd", "/base/project/passwd", None),
        ("x\0y", "/base/project/x\0y", None),
    ] {
        let target = Target::of(given, place.cwd, &place);
        assert_eq!(target.lexical, Path::new(lexical), "{given:?}");
        assert_eq!(target.real.as_deref(), real.map(Path::new), "{given:?}");
    }
}

#[test]
fn a_relative_folder_leads_nobody_knows_where() {
    let ground = ground();
    let target = Target::of("x", Path::new("src"), &ground.place());
    assert_eq!(target.real, None);
}

#[test]
fn inside_is_by_letters_and_by_links() {
    let mut ground = ground();
    for (path, expected) in [
        ("src/a.rs", true),
        (".", true),
        ("new/file", true),
        ("inner/a.rs", true),
        ("soon", true),
        ("..", false),
        ("../projectile/x", false),
        ("passwd", false),
        ("etc/new", false),
        ("gone", false),
        ("ring", false),
        ("up/project/src/a.rs", true),
        ("/linked/src/a.rs", false),
        ("/base/other/.env", false),
        ("~/x", false),
        ("~root/x", false),
        ("/proc/self/cwd/src/a.rs", false),
        ("src/a\0.rs", false),
    ] {
        let place = ground.place();
        let target = Target::of(path, place.cwd, &place);
        assert_eq!(target.is_inside(&place), expected, "{path}");
    }
    ground.add_dirs = vec!["../other".into(), "/linked".into()];
    let place = ground.place();
    for path in ["/base/other/.env", "/linked/src/a.rs", "src/a.rs"] {
        assert!(
            Target::of(path, place.cwd, &place).is_inside(&place),
            "{path}"
        );
    }
}

#[test]
fn a_path_is_shown_short_and_on_one_line() {
    let ground = ground();
    let place = ground.place();
    for (given, shown) in [
        ("src/a.rs", "src/a.rs"),
        (".", "."),
        ("../x", "/base/x"),
        ("~/x", "~/x"),
        ("~", "~"),
        ("a\nb", "a\\u{a}b"),
        ("a\u{202e}b", "a\\u{202e}b"),
        ("a`b", "a\\u{60}b"),
    ] {
        assert_eq!(
            Target::of(given, place.cwd, &place).shown,
            shown,
            "{given:?}"
        );
    }
    let long = Target::of(&"x".repeat(10_000), place.cwd, &place).shown;
    assert!(long.ends_with('…') && long.chars().count() == 401);
}

#[test]
fn a_text_longer_than_any_path_is_no_path_and_takes_no_time() {
    let ground = ground();
    let place = ground.place();
    for text in [
        "x".repeat(3_000_000),
        "a/".repeat(500_000),
        "../".repeat(500_000),
    ] {
        let target = Target::of(&text, place.cwd, &place);
        for side in [Side::Allow, Side::Restrict] {
            assert!(
                pattern("**/a/**/b/**/*x*")
                    .fits(&target, &place, side)
                    .is_no()
            );
        }
    }
    let winding = format!("{}.env", "a/../".repeat(100_000));
    let target = Target::of(&winding, place.cwd, &place);
    assert!(
        pattern(".env")
            .fits(&target, &place, Side::Restrict)
            .is_yes()
    );
}
