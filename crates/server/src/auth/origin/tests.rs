//! Tests of the rules on where a request comes from.

use super::*;

fn tcp() -> Peer {
    Peer::tcp(
        "192.0.2.7:50000".parse().unwrap(),
        "192.0.2.1:4779".parse().unwrap(),
        false,
    )
}

fn tls() -> Peer {
    Peer::tcp(
        "192.0.2.7:50000".parse().unwrap(),
        "192.0.2.1:4779".parse().unwrap(),
        true,
    )
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

#[test]
fn only_own_names_are_answered_to() {
    let hosts = Hosts::new(["box.example:1", "Other.example"]);
    let check = |host: &str| {
        let uri = Uri::from_static("/x");
        check_host(&hosts, &headers(&[("host", host)]), &uri, tcp())
    };
    for own in [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:4779",
        "127.9.9.9",
        "[::1]:4779",
        "192.0.2.1",
        "box.example",
        "box.example:99",
        "other.EXAMPLE",
    ] {
        assert_eq!(check(own), Ok(()), "{own}");
    }
    for foreign in [
        "evil.example",
        "localhost.evil.example",
        "localhost.",
        "127.0.0.1.evil.example",
        "192.0.2.2",
        "0.0.0.0",
        "[::]",
        "2130706433",
        "box.example.evil.example",
        "xbox.example",
    ] {
        assert_eq!(check(foreign), Err(Foreign::Host), "{foreign}");
    }
    for none in ["", "localhost@evil.example", "a b"] {
        assert_eq!(check(none), Err(Foreign::NoHost), "{none}");
    }
}

#[test]
fn several_hosts_or_another_one_in_the_target_are_refused() {
    let hosts = Hosts::default();
    let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
    let uri = Uri::from_static("/x");
    assert_eq!(check_host(&hosts, &two, &uri, tcp()), Err(Foreign::NoHost));
    let none = headers(&[]);
    assert_eq!(check_host(&hosts, &none, &uri, tcp()), Err(Foreign::NoHost));
    assert_eq!(
        check_host(&hosts, &none, &uri, Peer::socket(Ok(()))),
        Ok(())
    );
    let one = headers(&[("host", "localhost")]);
    let absolute = Uri::from_static("http://evil.example/x");
    assert_eq!(
        check_host(&hosts, &one, &absolute, tcp()),
        Err(Foreign::Host)
    );
}

#[test]
fn a_page_of_another_site_is_refused_and_our_own_is_not() {
    let check = |origin: &str, peer| {
        let lines = headers(&[("host", "box.example:4779"), ("origin", origin)]);
        check_origin(&lines, peer, false)
    };
    for own in [
        "http://box.example:4779",
        "https://box.example:4779",
        "http://BOX.example:4779",
    ] {
        assert_eq!(check(own, tcp()), Ok(()), "{own}");
    }
    assert_eq!(
        check("http://box.example:4779", tls()),
        Err(Foreign::Origin)
    );
    for foreign in [
        "null",
        "",
        "http://box.example",
        "http://box.example:3000",
        "http://evil.example:4779",
        "file://",
        "chrome-extension://box.example:4779",
        "http://box.example:4779.evil.example",
        "http://box.example:4779/",
        "box.example:4779",
    ] {
        assert_eq!(check(foreign, tcp()), Err(Foreign::Origin), "{foreign}");
    }
    let two = headers(&[
        ("host", "a"),
        ("origin", "http://a"),
        ("origin", "http://evil.example"),
    ]);
    assert_eq!(check_origin(&two, tcp(), false), Err(Foreign::Origin));
}

#[test]
fn a_write_by_cookie_shows_where_it_comes_from() {
    let check = |lines: &[(&'static str, &str)], needs_proof| {
        let mut all = headers(lines);
        all.insert("host", "a".parse().unwrap());
        check_origin(&all, tcp(), needs_proof)
    };
    assert_eq!(check(&[], false), Ok(()));
    assert_eq!(check(&[], true), Err(Foreign::Origin));
    assert_eq!(check(&[("origin", "http://a")], true), Ok(()));
    assert_eq!(check(&[("sec-fetch-site", "same-origin")], true), Ok(()));
    for other in ["none", "same-site", "cross-site", "x"] {
        let site = [("sec-fetch-site", other)];
        assert_eq!(check(&site, true), Err(Foreign::Origin), "{other}");
    }
    let own_form = [("origin", "null"), ("sec-fetch-site", "same-origin")];
    assert_eq!(check(&own_form, true), Ok(()));
    let lying = [("origin", "http://a"), ("sec-fetch-site", "same-site")];
    assert_eq!(check(&lying, true), Err(Foreign::Origin));
}

#[test]
fn a_name_stands_alone() {
    for (said, name) in [
        ("box.example", Some("box.example")),
        ("box.example:4779", Some("box.example:4779")),
        ("192.0.2.1", Some("192.0.2.1")),
        ("fd00::1", Some("[fd00::1]")),
        ("[fd00::1]:4779", Some("[fd00::1]:4779")),
        ("https://box.example", None),
        ("me@box.example", None),
        ("box example", None),
        ("", None),
    ] {
        assert_eq!(Hosts::name(said).ok().as_deref(), name, "{said}");
    }
}

#[test]
fn a_frame_of_another_page_is_embedded_and_a_link_that_is_followed_is_not() {
    let asked = |mode, dest| {
        headers(&[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ])
    };
    assert!(is_embedded_elsewhere(&asked("navigate", "iframe")));
    assert!(is_embedded_elsewhere(&asked("no-cors", "image")));
    assert!(!is_embedded_elsewhere(&asked("navigate", "document")));
    assert!(!is_embedded_elsewhere(&headers(&[])));
}
