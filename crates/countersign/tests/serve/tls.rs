//! `serve --tls`: with a certificate of its own, with files, and a client that trusts the right one and no other.

use std::path::{Path, PathBuf};
use std::process::Output;

use super::stage::{Daemon, Stage};

/// Where the daemon listens.
fn url(daemon: &Daemon) -> &str {
    let url = daemon.said["url"].as_str().unwrap();
    assert!(url.starts_with("https://"), "{url}");
    url
}

/// Who is asked under this certificate, with the owner's token.
fn ask(stage: &Stage, daemon: &Daemon, ca: Option<&Path>) -> Output {
    let token = stage.data().join("auth/token");
    let mut words = vec!["sessions", "--json", "--server", url(daemon)];
    words.extend(["--token-file", token.to_str().unwrap()]);
    if let Some(ca) = ca {
        words.extend(["--ca", ca.to_str().unwrap()]);
    }
    stage.command(&words).output().unwrap()
}

fn files(stage: &Stage) -> (PathBuf, PathBuf) {
    let data = stage.data();
    (data.join("certificate.pem"), data.join("key.pem"))
}

#[test]
fn who_trusts_its_certificate_reaches_it_and_who_trusts_another_does_not() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal", "--tls"]);
    let (certificate, _) = files(&stage);
    let good = ask(&stage, &daemon, Some(&certificate));
    assert!(good.status.success(), "{good:?}");
    assert_eq!(good.stdout.trim_ascii(), b"[]");
    let notes = daemon.said["notes"].to_string();
    assert!(notes.contains("SHA-256"), "{notes}");
    // Without a word on it, and with the word of somebody else.
    let other = Stage::new();
    let _other = other.serve(&["--rehearsal", "--tls"]);
    for ca in [None, Some(files(&other).0.as_path())] {
        let refused = ask(&stage, &daemon, ca);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{ca:?} {refused:?}");
        assert!(said.contains("no secure connection"), "{ca:?} {said}");
        let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
        assert!(!said.contains(token.trim()) && refused.stdout.is_empty());
    }
}

#[test]
fn the_next_start_has_the_same_certificate_and_its_key_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal", "--tls"]);
    let (certificate, key) = files(&stage);
    let before = std::fs::read(&certificate).unwrap();
    let mode = std::fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ended();
    let daemon = stage.serve(&["--rehearsal", "--tls"]);
    assert_eq!(std::fs::read(&certificate).unwrap(), before);
    assert!(ask(&stage, &daemon, Some(&certificate)).status.success());
}

#[test]
fn files_that_are_given_are_used_and_a_key_of_another_is_refused() {
    let made = Stage::new();
    let daemon = made.serve(&["--rehearsal", "--tls"]);
    let (certificate, key) = files(&made);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ended();
    let stage = Stage::new();
    let (cert, pem) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let daemon = stage.serve(&["--rehearsal", "--cert", cert, "--key", pem]);
    assert!(ask(&stage, &daemon, Some(&certificate)).status.success());
    assert!(!files(&stage).0.exists(), "it needs none of its own");

    let third = Stage::new();
    let with = |cert: &str, key: &str| {
        let words = ["serve", "--rehearsal", "--listen", "127.0.0.1:0"];
        let words = [&words[..], &["--cert", cert, "--key", key]].concat();
        third.command(&words).output().unwrap()
    };
    let none = third.root().join("none");
    std::fs::write(&none, "no key").unwrap();
    for (cert, key) in [(cert, cert), (pem, pem), (cert, none.to_str().unwrap())] {
        let refused = with(cert, key);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(refused.stdout.is_empty(), "nothing was listened on");
    }
    let half = ["serve", "--cert", cert];
    assert_eq!(
        third.command(&half).output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn what_is_not_sealed_learns_nothing_not_even_whether_it_is_well() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal", "--tls"]);
    let address = url(&daemon).strip_prefix("https://").unwrap();
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut heard = Vec::new();
    // The other end may reset what it does not read.
    let _ = stream.read_to_end(&mut heard);
    let heard = String::from_utf8_lossy(&heard);
    assert!(!heard.contains("HTTP/") && !heard.contains("up"), "{heard}");
}
