//! Sign-in: who may come in, and how a request shows it.
//!
//! Owns [`Auth`], the book of tokens with its file, and below it the layer that finds the caller. Invariants: no secret is
//! stored or printed, but for the owner's token in its file; what lets somebody in is on the disk before it is told; a link
//! is spent on the disk before its login counts.

mod book;
mod cookie;
mod disk;
mod headers;
mod limit;
mod once;
mod origin;
mod page;
mod pass;
mod secret;
mod who;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_api::Scope;
use tokio::sync::watch;

pub use book::{BadToken, LINK_LASTS, LOGIN_LASTS, MadeBy, OWNER, Token};
pub(crate) use cookie::{forget as forget_cookie, set as set_cookie, shown as shown_cookie};
pub(crate) use headers::secure;
pub(crate) use once::Once;
pub use origin::Hosts;
pub(crate) use origin::{is_embedded_elsewhere, is_this_machine};
pub(crate) use page::{Shows, page, script, style};
pub(crate) use pass::Pass;
pub use secret::Secret;
pub(crate) use who::{Holder, check_person, held_back, who, wrong};

use book::{Book, Found};
use disk::Disk;
use limit::Limiter;
use once::Recent;
use secret::{Digest, random};

/// Why sign-in does not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A file of the folder.
    #[error("the tokens in {} cannot be used ({source}): mend or remove what is named", path.display())]
    Disk {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system has no randomness.
    #[error("the system gives no random numbers ({0}): nobody can be let in safely")]
    Random(getrandom::Error),
    /// The token that is wanted.
    #[error(transparent)]
    Bad(#[from] BadToken),
}

/// A token that was just made: the only moment at which it can be seen.
#[derive(Debug, Clone)]
pub struct Made {
    /// The token itself.
    pub secret: Secret,
    /// What is kept of it.
    pub token: Token,
}

/// A page that was just signed in.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) cookie: Secret,
    pub(crate) name: String,
    pub(crate) scope: Scope,
}

/// Everybody who may come in.
pub struct Auth {
    disk: Disk,
    book: Mutex<Book>,
    limiter: Mutex<Limiter>,
    /// Rises whenever somebody is shut out.
    ended: watch::Sender<u64>,
    /// Tokens that were just made, for writes that come again.
    recent: Mutex<Recent>,
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.disk.book_file();
        f.debug_struct("Auth")
            .field("file", &file)
            .finish_non_exhaustive()
    }
}

impl Auth {
    /// Opens the folder, and makes it at the first start with a token for its owner. If the file with that token is gone,
    /// the token and all that was signed in with it end, and another is made.
    ///
    /// # Errors
    /// When the folder cannot be used, or what is in it cannot be read.
    pub fn open(folder: &Path, now: u64) -> Result<Self, AuthError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| AuthError::Disk { path, source }
        };
        let disk = Disk::open(folder).map_err(at(folder))?;
        let book = disk
            .read()
            .map_err(at(&disk.book_file()))?
            .unwrap_or_default();
        let token = disk.read_token().map_err(at(&disk.token_file()))?;
        let auth = Self {
            disk,
            book: Mutex::new(book),
            limiter: Mutex::default(),
            ended: watch::Sender::new(0),
            recent: Mutex::default(),
        };
        let is_good = token.is_some_and(|token| {
            let found = Digest::of(&token).and_then(|shown| auth.book().bearer(&shown, now));
            found.is_some_and(|found| found.name == OWNER)
        });
        if !is_good {
            auth.make_owner(now)?;
        }
        Ok(auth)
    }

    fn make_owner(&self, now: u64) -> Result<(), AuthError> {
        let old = self.owner();
        if let Some(old) = old {
            self.book().revoke(&old);
        }
        let made = self.create(OWNER, Scope::Full, None, now)?;
        let written = self.disk.write_token(made.secret.reveal());
        written.map_err(|source| self.failed(source))
    }

    /// The file that holds the owner's token.
    pub fn token_file(&self) -> PathBuf {
        self.disk.token_file()
    }

    /// Makes a token. It is shown once.
    ///
    /// # Errors
    /// When its name or its end makes no sense, or it cannot be stored: then there is no such token.
    pub fn create(
        &self,
        name: &str,
        scope: Scope,
        expires: Option<u64>,
        now: u64,
    ) -> Result<Made, AuthError> {
        self.make(name, scope, expires, now, None)
    }

    fn make(
        &self,
        name: &str,
        scope: Scope,
        expires: Option<u64>,
        now: u64,
        made_by: Option<MadeBy>,
    ) -> Result<Made, AuthError> {
        let secret = Secret::token(random().map_err(AuthError::Random)?);
        let id = random().map_err(AuthError::Random)?;
        let token = Token {
            id: Secret::plain(id).reveal()[..12].to_owned(),
            name: name.to_owned(),
            scope,
            digest: secret.digest(),
            created: now,
            used: None,
            expires,
            made_by,
        };
        self.change(|book| Ok(book.add(token.clone())?))?;
        Ok(Made { secret, token })
    }

    /// The tokens that are good now, oldest first.
    pub fn list(&self, now: u64) -> Vec<Token> {
        self.book().tokens(now).cloned().collect()
    }

    /// Ends a token, and every login and link that was made from it. None if there is none of this id.
    ///
    /// # Errors
    /// When it cannot be stored: then it is ended until the server starts again.
    pub fn revoke(&self, id: &str) -> Result<Option<Token>, AuthError> {
        let mut book = self.book();
        let Some(token) = book.revoke(id) else {
            return Ok(None);
        };
        self.ended.send_modify(|number| *number += 1);
        // Even if the disk refuses: who was shut out stays out as long as this runs.
        self.disk
            .write(&book)
            .map_err(|source| self.failed(source))?;
        if token.name == OWNER {
            let removed = self.disk.remove_token();
            removed.map_err(|source| self.failed(source))?;
        }
        Ok(Some(token))
    }

    /// The code of a link that signs a page in, once, as the owner.
    ///
    /// # Errors
    /// When it cannot be stored, or the owner's token was revoked.
    pub fn link(&self, scope: Scope, now: u64) -> Result<Secret, AuthError> {
        let Some(owner) = self.owner() else {
            let gone = std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "it was revoked; a new start makes one",
            );
            return Err(AuthError::Disk {
                path: self.disk.token_file(),
                source: gone,
            });
        };
        self.link_as(&owner, scope, now)
    }

    /// The same, as another token.
    pub(crate) fn link_as(&self, token: &str, scope: Scope, now: u64) -> Result<Secret, AuthError> {
        let code = Secret::plain(random().map_err(AuthError::Random)?);
        self.change(|book| {
            book.link(token, scope, code.digest(), now);
            Ok(())
        })?;
        Ok(code)
    }

    /// Whether a code is good, without using it.
    pub(crate) fn is_code(&self, code: &str, now: u64) -> bool {
        Digest::of(code).is_some_and(|shown| self.book().is_link(&shown, now))
    }

    /// Signs a page in by a code, which is spent. None if it is not good.
    pub(crate) fn use_code(&self, code: &str, now: u64) -> Result<Option<SignedIn>, AuthError> {
        if !self.is_code(code, now) {
            return Ok(None);
        }
        let Some(shown) = Digest::of(code) else {
            return Ok(None);
        };
        self.sign_in(|book, cookie| book.use_link(&shown, cookie, now))
    }

    /// Whether this is the owner's token.
    pub(crate) fn is_owners(&self, token: &str, now: u64) -> bool {
        let found = self.bearer(token, now);
        found.is_some_and(|found| found.name == book::OWNER)
    }

    /// Signs a page in by a token. None if it is not good.
    pub(crate) fn use_token(&self, token: &str, now: u64) -> Result<Option<SignedIn>, AuthError> {
        let found = Digest::of(token).and_then(|shown| self.book().bearer(&shown, now));
        let Some(found) = found else {
            return Ok(None);
        };
        self.sign_in(|book, cookie| book.sign_in(&found.token, found.scope, cookie, now))
    }

    fn sign_in(
        &self,
        step: impl FnOnce(&mut Book, Digest) -> Option<Found>,
    ) -> Result<Option<SignedIn>, AuthError> {
        let cookie = Secret::plain(random().map_err(AuthError::Random)?);
        let found = self.change(|book| Ok(step(book, cookie.digest())))?;
        Ok(found.map(|found| SignedIn {
            cookie,
            name: found.name,
            scope: found.scope,
        }))
    }

    /// Signs a page out.
    pub(crate) fn sign_out(&self, cookie: &str) -> Result<(), AuthError> {
        let Some(shown) = Digest::of(cookie) else {
            return Ok(());
        };
        let mut book = self.book();
        if book.sign_out(&shown) {
            self.ended.send_modify(|number| *number += 1);
            self.disk
                .write(&book)
                .map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Who shows this token.
    fn bearer(&self, token: &str, now: u64) -> Option<Found> {
        let shown = Digest::of(token)?;
        self.book().bearer(&shown, now)
    }

    /// Who shows this cookie.
    fn visitor(&self, cookie: &str, now: u64) -> Option<Found> {
        let shown = Digest::of(cookie)?;
        self.book().visitor(&shown, now)
    }

    /// Stores when somebody was last seen. It does not matter if that fails.
    fn note_use(&self) {
        let book = self.book();
        if let Err(error) = self.disk.write(&book) {
            tracing::warn!(%error, "when a token was used cannot be stored");
        }
    }

    /// How long an address has to wait after wrong tries, in milliseconds.
    pub(crate) fn wait_ms(&self, from: Option<IpAddr>, now: u64) -> Option<u64> {
        let wait = locked(&self.limiter).wait(from, now);
        (wait > 0).then(|| wait.div_ceil(1000))
    }

    /// Somebody showed what is not good.
    pub(crate) fn wrong(&self, from: Option<IpAddr>, now: u64) {
        locked(&self.limiter).wrong(from, now);
    }

    /// Tells whenever somebody is shut out.
    fn ended(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    fn owner(&self) -> Option<String> {
        let book = self.book();
        let owner = book.tokens(0).find(|token| token.name == OWNER);
        owner.map(|token| token.id.clone())
    }

    /// Changes the book and stores it; if either fails, nothing has changed.
    fn change<T>(
        &self,
        step: impl FnOnce(&mut Book) -> Result<T, AuthError>,
    ) -> Result<T, AuthError> {
        let mut book = self.book();
        let mut next = book.clone();
        let result = step(&mut next)?;
        self.disk
            .write(&next)
            .map_err(|source| self.failed(source))?;
        *book = next;
        Ok(result)
    }

    fn failed(&self, source: std::io::Error) -> AuthError {
        let path = self.disk.book_file();
        AuthError::Disk { path, source }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        locked(&self.book)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
