//! Tests of the book: what lets somebody in, and until when.

use super::*;
use crate::auth::secret::Secret;

const NOW: u64 = 1_700_000_000 * SECOND;

fn digest(number: u8) -> Digest {
    Secret::plain([number; 32]).digest()
}

fn token(number: u8, scope: Scope) -> Token {
    Token {
        id: number.to_string(),
        name: format!("token {number}"),
        scope,
        digest: digest(number),
        created: NOW,
        used: None,
        expires: None,
        made_by: None,
    }
}

fn book(scope: Scope) -> Book {
    let mut book = Book::default();
    book.add(token(1, scope)).unwrap();
    book
}

#[test]
fn a_token_lets_in_until_it_expires_or_is_revoked() {
    let mut book = book(Scope::Read);
    let mut brief = token(2, Scope::Full);
    brief.expires = Some(NOW + SECOND);
    book.add(brief).unwrap();
    assert_eq!(book.bearer(&digest(1), NOW).unwrap().scope, Scope::Read);
    assert_eq!(book.bearer(&digest(2), NOW).unwrap().name, "token 2");
    assert!(book.bearer(&digest(2), NOW + SECOND).is_none());
    assert_eq!(book.tokens(NOW + SECOND).count(), 1);
    assert!(book.bearer(&digest(3), NOW).is_none());
    assert!(book.revoke("1").is_some());
    assert!(book.bearer(&digest(1), NOW).is_none());
    assert!(book.revoke("1").is_none());
}

#[test]
fn use_is_news_once_an_hour() {
    let mut book = book(Scope::Read);
    let mut is_news = |at| book.bearer(&digest(1), at).unwrap().is_news;
    assert!(is_news(NOW));
    assert!(!is_news(NOW + TOKEN_GRAIN - 1));
    assert!(is_news(NOW + TOKEN_GRAIN));
}

#[test]
fn a_link_is_used_once_and_in_time() {
    let mut book = book(Scope::Full);
    assert!(book.link("1", Scope::Answer, digest(7), NOW));
    assert!(book.is_link(&digest(7), NOW));
    let found = book.use_link(&digest(7), digest(8), NOW).unwrap();
    assert_eq!(
        (found.scope, found.name.as_str()),
        (Scope::Answer, "token 1")
    );
    assert!(book.use_link(&digest(7), digest(9), NOW).is_none());
    assert!(book.visitor(&digest(8), NOW).is_some());
    assert!(book.visitor(&digest(9), NOW).is_none());

    assert!(book.link("1", Scope::Full, digest(10), NOW));
    let late = NOW + LINK_LASTS;
    assert!(!book.is_link(&digest(10), late));
    assert!(book.use_link(&digest(10), digest(11), late).is_none());
    assert!(!book.link("none", Scope::Read, digest(12), NOW));
}

#[test]
fn a_login_may_do_no_more_than_its_token_and_ends_with_it() {
    let mut book = book(Scope::Read);
    assert!(book.link("1", Scope::Full, digest(7), NOW));
    let found = book.use_link(&digest(7), digest(8), NOW).unwrap();
    assert_eq!(found.scope, Scope::Read);
    book.link("1", Scope::Read, digest(9), NOW);
    book.revoke("1");
    assert!(book.visitor(&digest(8), NOW).is_none());
    assert!(book.use_link(&digest(9), digest(10), NOW).is_none());
}

#[test]
fn a_login_that_is_used_goes_on_and_one_that_is_not_ends() {
    let mut book = book(Scope::Full);
    book.sign_in("1", Scope::Full, digest(8), NOW).unwrap();
    let later = NOW + LOGIN_LASTS - 1;
    assert!(book.visitor(&digest(8), later).unwrap().is_news);
    assert!(!book.visitor(&digest(8), later).unwrap().is_news);
    assert!(book.visitor(&digest(8), later + LOGIN_LASTS - 1).is_some());
    let end = later + 3 * LOGIN_LASTS;
    assert!(book.visitor(&digest(8), end).is_none());
}

#[test]
fn a_cookie_that_was_signed_out_is_nobodys() {
    let mut book = book(Scope::Full);
    book.sign_in("1", Scope::Full, digest(8), NOW).unwrap();
    assert!(book.sign_out(&digest(8)));
    assert!(!book.sign_out(&digest(8)));
    assert!(book.visitor(&digest(8), NOW).is_none());
}

#[test]
fn a_token_that_makes_no_sense_is_not_made() {
    let mut book = book(Scope::Full);
    let named = |name: &str| Token {
        name: name.to_owned(),
        ..token(2, Scope::Read)
    };
    for name in ["", " a", "a\n", "a\u{1b}[2J", &"x".repeat(65)] {
        assert_eq!(book.add(named(name)), Err(BadToken::Name), "{name:?}");
    }
    assert!(matches!(
        book.add(named("token 1")),
        Err(BadToken::Taken(_))
    ));
    let mut expired = token(2, Scope::Read);
    expired.expires = Some(NOW);
    assert_eq!(book.add(expired), Err(BadToken::Expired));
}

#[test]
fn every_list_is_bounded() {
    let mut book = book(Scope::Full);
    for number in 0..=MOST_LINKS as u8 {
        assert!(book.link("1", Scope::Read, digest(number), NOW));
    }
    assert_eq!(book.links.len(), MOST_LINKS);
    assert!(!book.is_link(&digest(0), NOW));
    assert!(book.is_link(&digest(MOST_LINKS as u8), NOW));
    for _ in 0..=MOST_LOGINS {
        book.sign_in("1", Scope::Read, digest(1), NOW).unwrap();
    }
    assert_eq!(book.logins.len(), MOST_LOGINS);
    for number in 1..MOST_TOKENS {
        let mut one = token(2, Scope::Read);
        one.name = format!("another {number}");
        book.add(one).unwrap();
    }
    assert_eq!(book.add(token(3, Scope::Read)), Err(BadToken::TooMany));
}
