//! Who may come in: tokens, the logins of pages, and links that make a login.
//!
//! Owns what is known of them and what each step changes. Pure: time and secrets come in. Invariants: a login may never do
//! more than its token, and ends with it; a link is used once; what has expired lets nobody in; every list is bounded.

use countersign_api::Scope;
use serde::{Deserialize, Serialize};

use super::secret::Digest;
use crate::clock::SECOND;

/// The name of the token that is made at the first start.
pub const OWNER: &str = "owner";

/// A link is good for so long.
pub const LINK_LASTS: u64 = 10 * 60 * SECOND;

/// A login that is not used ends after so long.
pub const LOGIN_LASTS: u64 = 30 * 24 * 3600 * SECOND;

/// When a token was used is kept by the hour, when a login was by the day: it is not worth a write each time.
const TOKEN_GRAIN: u64 = 3600 * SECOND;
const LOGIN_GRAIN: u64 = 24 * 3600 * SECOND;

/// So many of each. A token beyond is refused, a login or a link beyond ends the oldest.
const MOST_TOKENS: usize = 256;
const MOST_LOGINS: usize = 256;
const MOST_LINKS: usize = 32;

/// The longest name of a token.
const LONGEST_NAME: usize = 64;

/// A token, without itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Token {
    /// By which it is revoked.
    pub id: String,
    /// What decisions are recorded under.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// What is kept of it.
    pub digest: Digest,
    /// When it was made.
    pub created: u64,
    /// When it was last used, to the hour.
    #[serde(default)]
    pub used: Option<u64>,
    /// Until when it is good. None: until it is revoked.
    #[serde(default)]
    pub expires: Option<u64>,
    /// The write that made it, where that had a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
}

/// A write with a key, as far as a token remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
    /// Who wrote with which key, as a hash.
    pub mark: String,
    /// What was wanted, as a hash.
    pub wanted: String,
}

/// A page that is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Login {
    token: String,
    scope: Scope,
    digest: Digest,
    created: u64,
    expires: u64,
}

/// A link that was not used yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Link {
    token: String,
    scope: Scope,
    digest: Digest,
    expires: u64,
}

/// Everybody who may come in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Book {
    #[serde(default)]
    tokens: Vec<Token>,
    #[serde(default)]
    logins: Vec<Login>,
    #[serde(default)]
    links: Vec<Link>,
}

/// Who was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The id of the token.
    pub token: String,
    /// Its name.
    pub name: String,
    /// What may be done.
    pub scope: Scope,
    /// The login of the page that shows it; none of a token.
    pub login: Option<Digest>,
    /// When this was used is worth a write.
    pub is_news: bool,
}

/// Why a token is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// Its name.
    #[error("a name has 1 to {LONGEST_NAME} letters and no control characters: choose another")]
    Name,
    /// Another one has it.
    #[error("there is a token `{0}`: choose another name, or revoke that one first")]
    Taken(String),
    /// Its end.
    #[error("it would have expired already: choose a later moment")]
    Expired,
    /// There are enough.
    #[error("there are {MOST_TOKENS} tokens: revoke one first")]
    TooMany,
}

impl Book {
    /// Puts a token in.
    pub(super) fn add(&mut self, token: Token) -> Result<(), BadToken> {
        self.forget_expired(token.created);
        let is_plain = !token.name.chars().any(char::is_control) && token.name.trim() == token.name;
        if !(1..=LONGEST_NAME).contains(&token.name.chars().count()) || !is_plain {
            return Err(BadToken::Name);
        }
        if self.tokens.iter().any(|known| known.name == token.name) {
            return Err(BadToken::Taken(token.name));
        }
        if token.expires.is_some_and(|at| at <= token.created) {
            return Err(BadToken::Expired);
        }
        if self.tokens.len() >= MOST_TOKENS {
            return Err(BadToken::TooMany);
        }
        self.tokens.push(token);
        Ok(())
    }

    /// The tokens that are good now.
    pub(super) fn tokens(&self, now: u64) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(move |token| token.is_good(now))
    }

    /// Takes a token out, with every login and link that was made from it.
    pub(super) fn revoke(&mut self, id: &str) -> Option<Token> {
        let at = self.tokens.iter().position(|token| token.id == id)?;
        self.logins.retain(|login| login.token != id);
        self.links.retain(|link| link.token != id);
        Some(self.tokens.remove(at))
    }

    /// Who shows this token.
    pub(super) fn bearer(&mut self, shown: &Digest, now: u64) -> Option<Found> {
        let found = shown.find(&self.tokens, |token| &token.digest)?;
        let id = found.is_good(now).then(|| found.id.clone())?;
        let token = self.tokens.iter_mut().find(|token| token.id == id)?;
        let is_news = token
            .used
            .is_none_or(|used| now >= used.saturating_add(TOKEN_GRAIN));
        if is_news {
            token.used = Some(now);
        }
        Some(Found {
            token: id,
            name: token.name.clone(),
            scope: token.scope,
            login: None,
            is_news,
        })
    }

    /// Who shows this cookie. Its end moves away with each use.
    pub(super) fn visitor(&mut self, shown: &Digest, now: u64) -> Option<Found> {
        let found = shown.find(&self.logins, |login| &login.digest)?;
        let digest = (found.expires > now).then_some(found.digest)?;
        let login = self
            .logins
            .iter_mut()
            .find(|login| login.digest.is(&digest))?;
        let token = self.tokens.iter().find(|token| token.id == login.token)?;
        if !token.is_good(now) {
            return None;
        }
        let expires = now.saturating_add(LOGIN_LASTS);
        let is_news = expires >= login.expires.saturating_add(LOGIN_GRAIN);
        if is_news {
            login.expires = expires;
        }
        Some(Found {
            token: token.id.clone(),
            name: token.name.clone(),
            scope: login.scope.min(token.scope),
            login: Some(digest),
            is_news,
        })
    }

    /// Whether a login is good, without using it.
    pub(super) fn is_login(&self, login: &Digest, now: u64) -> bool {
        let found = login.find(&self.logins, |login| &login.digest);
        found.is_some_and(|login| login.expires > now)
    }

    /// Whether a token is good, without using it.
    pub(super) fn is_token(&self, id: &str, now: u64) -> bool {
        self.tokens(now).any(|token| token.id == id)
    }

    /// The token that a write made, by the mark of that write.
    pub(super) fn made_by(&self, mark: &str, now: u64) -> Option<&Token> {
        let mut tokens = self.tokens(now);
        tokens.find(|token| token.made_by.as_ref().is_some_and(|made| made.mark == mark))
    }

    /// A link that signs in as this token, with no more than this scope. False if there is no such token.
    pub(super) fn link(&mut self, token: &str, scope: Scope, digest: Digest, now: u64) -> bool {
        self.forget_expired(now);
        let Some(token) = self.tokens.iter().find(|one| one.id == token) else {
            return false;
        };
        let link = Link {
            token: token.id.clone(),
            scope: scope.min(token.scope),
            digest,
            expires: now.saturating_add(LINK_LASTS),
        };
        push_bounded(&mut self.links, link, MOST_LINKS);
        true
    }

    /// Whether a link is good, without using it.
    pub(super) fn is_link(&self, shown: &Digest, now: u64) -> bool {
        let found = shown.find(&self.links, |link| &link.digest);
        found.is_some_and(|link| link.expires > now)
    }

    /// Uses a link: it is gone, and `cookie` is signed in.
    pub(super) fn use_link(&mut self, shown: &Digest, cookie: Digest, now: u64) -> Option<Found> {
        let found = shown.find(&self.links, |link| &link.digest)?.clone();
        self.links.retain(|link| !link.digest.is(&found.digest));
        if found.expires <= now {
            return None;
        }
        self.sign_in(&found.token, found.scope, cookie, now)
    }

    /// Signs `cookie` in as a token.
    pub(super) fn sign_in(
        &mut self,
        token: &str,
        scope: Scope,
        cookie: Digest,
        now: u64,
    ) -> Option<Found> {
        self.forget_expired(now);
        let token = self.tokens.iter().find(|one| one.id == token)?;
        let scope = scope.min(token.scope);
        let login = Login {
            token: token.id.clone(),
            scope,
            digest: cookie,
            created: now,
            expires: now.saturating_add(LOGIN_LASTS),
        };
        let found = Found {
            token: token.id.clone(),
            name: token.name.clone(),
            scope,
            login: Some(cookie),
            is_news: true,
        };
        push_bounded(&mut self.logins, login, MOST_LOGINS);
        Some(found)
    }

    /// Signs a cookie out. False if it was not signed in.
    pub(super) fn sign_out(&mut self, cookie: &Digest) -> bool {
        let before = self.logins.len();
        self.logins.retain(|login| !login.digest.is(cookie));
        self.logins.len() < before
    }

    /// What has expired is gone, and what was made from it.
    fn forget_expired(&mut self, now: u64) {
        self.tokens.retain(|token| token.is_good(now));
        let Self {
            tokens,
            logins,
            links,
        } = self;
        let has = |id: &str| tokens.iter().any(|token| token.id == id);
        logins.retain(|login| login.expires > now && has(&login.token));
        links.retain(|link| link.expires > now && has(&link.token));
    }
}

impl Token {
    fn is_good(&self, now: u64) -> bool {
        self.expires.is_none_or(|at| at > now)
    }
}

/// The oldest makes room.
fn push_bounded<T>(all: &mut Vec<T>, one: T, most: usize) {
    if all.len() >= most {
        all.remove(0);
    }
    all.push(one);
}

#[cfg(test)]
mod tests;
