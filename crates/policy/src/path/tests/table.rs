//! (pattern, path) → what a rule that allows says, and what one that restricts says.

use super::*;

/// Pattern, path, allowed, restricted (`y`, `m`aybe, `n`).
type Row = (&'static str, &'static str, bool, char);

fn check(rows: &[Row]) {
    let ground = ground();
    let mut wrong = Vec::new();
    for (text, path, allowed, restricted) in rows {
        let allow = fit(&ground, text, path, Side::Allow);
        let restrict = fit(&ground, text, path, Side::Restrict);
        if (allow.is_yes(), letter(&restrict)) != (*allowed, *restricted) {
            wrong.push(format!("{text} on {path}: {allow:?}, {restrict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn as_the_cli_was_measured() {
    check(&[
        ("src/**", "/base/project/src/a2", true, 'y'),
        ("src/**", "/base/project/other", false, 'n'),
        ("src/**", "/base/project/src/deep/er/z", true, 'y'),
        ("//etc/**", "/etc/passwd", true, 'y'),
        ("//etc/**", "/usr/x", false, 'n'),
        ("//tmp/probe-a-x/**", "/tmp/probe-a-x/y", true, 'y'),
        ("//tmp/probe-a-x/**", "/tmp/probe-a-z", false, 'n'),
        ("~/q/**", "/base/home/q/1", true, 'y'),
        ("~/doc/**", "/base/home/doc/x", true, 'y'),
        ("~/doc/**", "/base/home/other", false, 'n'),
        ("sub/deny", "/base/project/sub/deny", true, 'y'),
        ("*.md", "/base/project/x.md", true, 'y'),
        ("*.md", "/base/project/deep/er/x.md", true, 'y'),
        ("*.md", "/base/project/deep/x", false, 'n'),
        ("**/gen/**", "/base/project/a/gen/b", true, 'y'),
        ("./lib/**", "/base/project/lib/a", true, 'y'),
        (".env", "/base/project/.env", true, 'y'),
        (".env", "/base/project/sub/.env", true, 'y'),
        ("./sec/**", "/base/project/sec/k", true, 'y'),
        ("notes.txt", "/base/project/notes.txt", true, 'y'),
        ("/x/**", "/base/project/x/1", true, 'y'),
        ("/x/**", "/base/home/.claude/x/1", false, 'n'),
    ]);
}

/// Measured on 2.1.325: `Write` of the path with `Edit(pattern)` allowed, `Read` of it with `Read(pattern)` denied. The
/// denials were the same on 2.0.75, which also allowed `x/**` at any depth.
#[test]
fn never_milder_than_the_cli() {
    let ground = ground();
    for (text, path, cli_allows, cli_denies) in [
        ("d1/**", "d1/x", true, true),
        ("d1/**", "p/d1/x", false, true),
        ("./d2/**", "d2/x", true, true),
        ("./d2/**", "p/d2/x", false, true),
        ("./e2", "e2", true, true),
        ("./e2", "p/e2", true, true),
        ("d3/*", "d3/x", true, true),
        ("d3/*", "d3/y/x", true, true),
        ("d3/*", "p/d3/x", false, false),
        ("*.{pem,key}", "x.pem", false, false),
        (".ENVX", ".envx", true, true),
        ("[id]/z", "i/z", true, true),
        ("[id]/z", "[id]/z", false, false),
        ("[id]/z", "p/i/z", false, false),
        ("d4/", "d4/x", true, true),
        ("d4/", "p/d4/x", true, true),
        ("**/d5/**", "d5/x", true, true),
        ("**/d5/**", "p/d5/x", true, true),
        ("bare", "bare", true, true),
        ("bare", "p/bare", true, true),
        ("bare", "p/bare2/bare/q", true, true),
        ("/d6/**", "d6/x", true, true),
        ("/d6/**", "p/d6/x", false, false),
        ("d7/d8", "d7/d8", true, true),
        ("d7/d8", "p/d7/d8", false, false),
        ("d9/d10/**", "p/d9/d10/x", false, false),
        ("bare", "BARE", true, true),
        ("bare", "p/../bare", true, true),
        ("bare", "bare ", true, true),
        ("bare", " bare", false, false),
        ("bare", " /base/project/bare", true, true),
    ] {
        let allow = fit(&ground, text, path, Side::Allow).is_yes();
        let restrict = fit(&ground, text, path, Side::Restrict).is_yes();
        assert!(cli_allows || !allow, "{text} on {path}");
        assert!(restrict || !cli_denies, "{text} on {path}");
    }
}

#[test]
fn where_a_pattern_starts() {
    check(&[
        // The working folder.
        ("src", "src", true, 'y'),
        ("src", "src/a.rs", true, 'y'),
        ("src/", "src/a.rs", true, 'y'),
        ("src", "source/a.rs", false, 'n'),
        ("src", "lib/src/a.rs", true, 'y'),
        // To allow, a slash ties it to the folder; to restrict, the CLI takes `/**` and `./` away first.
        ("src/**", "lib/src/a.rs", false, 'y'),
        ("./src", "lib/src/a.rs", false, 'y'),
        ("src/a.rs", "lib/src/a.rs", false, 'n'),
        ("src/*", "src/deep/b.rs", true, 'y'),
        ("src/*.rs", "src/deep/b.rs", false, 'n'),
        ("src/**/*.rs", "src/deep/b.rs", true, 'y'),
        ("src/**/*.rs", "src/a.rs", true, 'y'),
        ("src/**/b.rs", "src/a/b/c/b.rs", true, 'y'),
        ("**/b.rs", "src/deep/b.rs", true, 'y'),
        ("**", "anything/at/all", true, 'y'),
        ("*", "anything/at/all", true, 'y'),
        (".", "anything", true, 'y'),
        ("src//deep/./b.rs", "src/deep/b.rs", true, 'y'),
        ("src/x/../deep", "src/deep/b.rs", true, 'y'),
        // A relative pattern allows nothing outside; to restrict, a bare name is meant there too.
        ("*.md", "/elsewhere/x.md", false, 'y'),
        (".env", "../other/.env", false, 'y'),
        (".env", "/base/home/.env", false, 'y'),
        ("secrets", "../other/secrets/k", false, 'm'),
        ("src/**", "/usr/src/linux", false, 'm'),
        ("**", "/etc/passwd", false, 'm'),
        ("base", "/base/other/x", false, 'n'),
        ("base", "src/a.rs", false, 'n'),
        ("project", "src/a.rs", false, 'n'),
        ("../other/**", "../other/x", false, 'y'),
        ("../other/**", "other/x", false, 'n'),
        ("../../../../../etc", "/etc/passwd", false, 'y'),
        // The root of the disk.
        ("//etc", "/etc", true, 'y'),
        ("//etc", "/etc/ssl/x", true, 'y'),
        ("//etc", "/base/project/x/etc/y", false, 'n'),
        ("//", "/etc/passwd", true, 'y'),
        ("//**", "/etc/passwd", true, 'y'),
        ("//*/passwd", "/etc/passwd", true, 'y'),
        ("///etc/passwd", "/etc/passwd", true, 'y'),
        ("//base/project/src/**", "src/a.rs", true, 'y'),
        // Home.
        ("~", "~/anything", true, 'y'),
        ("~/", "~", true, 'y'),
        ("~/**", "~/a/b", true, 'y'),
        ("~/.ssh/**", "~/.ssh/id", true, 'y'),
        ("~/.ssh/**", "/base/home/.ssh/id", true, 'y'),
        ("~/.ssh/**", "~/.sshx/id", false, 'n'),
        ("~/x", "~x", false, 'm'),
        // The folder of the settings file.
        ("/src", "src/a.rs", true, 'y'),
        ("/src", "lib/src/a.rs", false, 'n'),
        ("/", "src/a.rs", true, 'y'),
        ("/**/*.rs", "src/deep/b.rs", true, 'y'),
        ("/src", "/src/x", false, 'n'),
    ]);
}

#[test]
fn what_the_letters_of_a_pattern_mean() {
    check(&[
        ("?.rs", "src/a.rs", true, 'y'),
        ("?.rs", "src/ab.rs", false, 'n'),
        ("[a-c].rs", "src/b.rs", true, 'y'),
        ("[!a-c].rs", "src/b.rs", false, 'n'),
        ("app/[id]/**", "app/i/x", true, 'y'),
        // Many mean the folder of that very name.
        ("app/[id]/**", "app/[id]/x", false, 'y'),
        ("app/\\[id\\]/**", "app/[id]/x", true, 'y'),
        ("*.{pem,key}", "a/x.key", false, 'y'),
        ("*.{pem,key}", "a/x.crt", false, 'n'),
        ("{src,lib}/**", "lib/x", false, 'y'),
        ("{src,lib}/**", "{src,lib}/x", true, 'y'),
        ("\\{a,b}", "{a,b}", true, 'y'),
        ("{a}", "{a}", true, 'y'),
        ("a**z", "abcz", true, 'y'),
        ("a**z", "ab/cz", false, 'n'),
        ("\\*", "x", false, 'n'),
        ("\\*", "*", true, 'y'),
        ("#x", "#x", true, 'y'),
        ("a b", "a b", true, 'y'),
        (" .env ", ".env", true, 'y'),
        (".env*", ".env.local", true, 'y'),
        (".env", ".env.local", false, 'n'),
        (".env", "x.env", false, 'n'),
        // One name to some file system, two to others.
        (".env", ".ENV", false, 'y'),
        (".ENV", ".env", false, 'y'),
        ("SRC/**", "src/a.rs", false, 'y'),
        ("//ETC/shadow", "/etc/Shadow", false, 'y'),
        ("~/.SSH/**", "/BASE/Home/.ssh/id", false, 'y'),
        ("caf\u{e9}", "cafe\u{301}", false, 'y'),
        ("[A-C].rs", "b.rs", false, 'y'),
        (".git", ".g\u{200d}it/x", false, 'y'),
    ]);
}

#[test]
fn how_a_path_may_be_written() {
    check(&[
        ("src/**", "./src/a.rs", true, 'y'),
        ("src/**", "src//a.rs", true, 'y'),
        ("src/**", "src/./a.rs", true, 'y'),
        ("src/**", "src/../src/a.rs", true, 'y'),
        ("src/**", "src/../notes.txt", false, 'n'),
        ("src/**", "src/../../etc/passwd", false, 'n'),
        ("src/**", "src/../../../etc/passwd", false, 'n'),
        (
            "src/**",
            "/base/project/src/../../../etc/passwd",
            false,
            'n',
        ),
        ("//etc/**", "src/../../../etc/passwd", true, 'y'),
        ("//etc/**", "../../../../../../etc/passwd", true, 'y'),
        (".env", "sub/../.env", true, 'y'),
        (".env", ".env/", true, 'y'),
        (".env", ".env/.", true, 'y'),
        (".env", ".env/..namedfork/data", true, 'y'),
        (".env", "./././/.env", true, 'y'),
        // The CLI trims, a shell does not: it must be meant either way.
        (".env", " .env", false, 'y'),
        (".env", ".env\n", false, 'y'),
        ("src/**", "src/a.rs ", true, 'y'),
        ("notes.txt", " notes.txt", false, 'y'),
        // Whose home, which file, how long?
        (".env", "~root/.env", false, 'y'),
        ("src/a.rs", "~root/src/x", false, 'm'),
        ("src/**", "src/a\0.rs", false, 'y'),
        ("lib/**", "src/a\0.rs", false, 'm'),
        ("src/**", "src/a\n.rs", true, 'y'),
        ("src/**", "src\\a.rs", false, 'n'),
    ]);
}

#[test]
fn where_links_lead() {
    check(&[
        // A file, a folder, one after the other.
        ("passwd", "passwd", false, 'y'),
        ("//etc/**", "passwd", false, 'y'),
        ("**", "passwd", false, 'y'),
        ("etc/**", "etc/passwd", false, 'y'),
        ("//etc/**", "etc/passwd", false, 'y'),
        ("hop/**", "hop/passwd", false, 'y'),
        ("//etc/shadow", "hop/shadow", false, 'y'),
        ("//etc/shadow", "etc/../etc/shadow", false, 'y'),
        // Inside: both names must be meant to allow, either is enough to restrict.
        ("src/**", "inner/a.rs", false, 'y'),
        ("inner/**", "inner/a.rs", false, 'y'),
        ("*.rs", "inner/a.rs", true, 'y'),
        (".env", "env2", false, 'y'),
        ("env2", "env2", false, 'y'),
        ("fine.txt", "fine.txt", false, 'y'),
        ("*.txt", "fine.txt", true, 'y'),
        // Missing files in linked folders, links that lead nowhere.
        ("src/**", "inner/new.rs", false, 'y'),
        ("etc/**", "etc/new", false, 'y'),
        ("**", "etc/new", false, 'y'),
        ("//etc/**", "etc/new", false, 'y'),
        ("**", "gone", false, 'y'),
        ("//nowhere/**", "gone", false, 'y'),
        ("src/**", "soon", false, 'y'),
        ("**", "soon", true, 'y'),
        // Up through a link: a shell goes by the link, the CLI by the letters.
        ("//etc/**", "up/../etc/passwd", false, 'y'),
        ("**", "up/other/.env", false, 'y'),
        (".env", "up/other/.env", false, 'y'),
        ("notes.txt", "inner/../notes.txt", true, 'y'),
        ("notes.txt", "inner/deep/../../notes.txt", true, 'y'),
        ("x.txt", "etc/../x.txt", false, 'y'),
        ("//x.txt", "etc/../x.txt", false, 'y'),
        // A ring, a locked folder.
        ("ring", "ring", false, 'y'),
        ("src/**", "ring", false, 'm'),
        ("**", "ring/x", false, 'y'),
        ("src/**", "/base/locked/x", false, 'm'),
        ("//base/locked/**", "/base/locked/x", false, 'y'),
        // A pattern that names a link means what it leads to.
        ("vault/**", "/vault/key", false, 'y'),
        ("vault/*.pem", "/vault/key.pem", false, 'y'),
        ("vault/*.pem", "/vault/key", false, 'n'),
        ("passwd", "/etc/passwd", false, 'y'),
        ("//linked/src/**", "src/a.rs", true, 'y'),
        // The working folder by another name; a link in the root of the disk is the system's own.
        ("src/**", "/linked/src/a.rs", false, 'y'),
        ("//linked/src/**", "/linked/src/a.rs", true, 'y'),
        ("//var/log/**", "/var/log/x", true, 'y'),
        ("//private/var/log/**", "/var/log/x", false, 'y'),
        ("//var/log/**", "/private/var/log/x", true, 'y'),
    ]);
}

#[test]
fn names_that_are_not_a_file_of_their_own() {
    check(&[
        ("**", "/proc/self/cwd/.env", false, 'm'),
        (".env", "/proc/self/cwd/.env", false, 'y'),
        ("src/**", "/proc/self/cwd/src/a.rs", false, 'm'),
        ("//etc/shadow", "/proc/self/root/etc/shadow", false, 'm'),
        ("//etc/shadow", "/proc/42/root/etc/shadow", false, 'm'),
        ("//proc/**", "/proc/self/root/etc/shadow", false, 'y'),
        ("//proc/cpuinfo", "/proc/cpuinfo", true, 'y'),
        ("sec/k", "me/sec/k", false, 'm'),
        ("src/**", "/dev/fd/3", false, 'm'),
        ("//dev/fd/**", "/dev/fd/3", false, 'y'),
        ("src/**", "/dev/stdout", false, 'n'),
        ("//dev/stdout", "/dev/stdout", true, 'y'),
        ("src/**", "/dev/null", false, 'n'),
        ("src/**", "/.vol/16777220/2", false, 'm'),
    ]);
}

#[test]
fn added_folders_are_restricted_like_the_working_folder_and_allow_by_their_own_path() {
    let mut ground = ground();
    ground.add_dirs = vec!["/base/other".into()];
    for (text, path, allowed, restricted) in [
        ("secrets/**", "/base/other/secrets/k", false, 'y'),
        ("secrets/k", "/base/other/secrets/k", false, 'y'),
        ("../other/secrets/**", "/base/other/secrets/k", true, 'y'),
        ("//base/other/**", "/base/other/secrets/k", true, 'y'),
        (".env", "/base/other/.env", false, 'y'),
    ] {
        let allow = fit(&ground, text, path, Side::Allow);
        let restrict = fit(&ground, text, path, Side::Restrict);
        assert_eq!(
            (allow.is_yes(), letter(&restrict)),
            (allowed, restricted),
            "{text} on {path}"
        );
    }
}

#[test]
fn a_working_folder_that_is_itself_a_link_is_both_of_its_names() {
    let mut ground = ground();
    ground.cwd = "/linked".into();
    for path in ["src/a.rs", "/linked/src/a.rs", "/base/project/src/a.rs"] {
        assert!(fit(&ground, "src/**", path, Side::Allow).is_yes(), "{path}");
        assert!(
            fit(&ground, "src/**", path, Side::Restrict).is_yes(),
            "{path}"
        );
    }
    assert!(fit(&ground, "**", "etc/passwd", Side::Allow).is_no());
    assert!(fit(&ground, "**", "../etc/passwd", Side::Allow).is_no());
}

#[test]
fn without_a_home_a_rule_about_it_may_mean_anything() {
    let mut ground = ground();
    ground.home = None;
    assert!(fit(&ground, "~/.ssh/**", "src/a.rs", Side::Allow).is_no());
    assert_eq!(
        letter(&fit(&ground, "~/.ssh/**", "src/a.rs", Side::Restrict)),
        'm'
    );
    assert_eq!(letter(&fit(&ground, "src/**", "~/x", Side::Restrict)), 'm');
}
