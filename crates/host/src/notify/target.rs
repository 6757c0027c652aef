//! Whom to tell, about what, and how it is reached.
//!
//! Owns [`Target`] as a person writes it and as it is stored, and what makes one sound. Invariants: an address, a secret and
//! a header's value show in no `Debug` and no message, since the address of a chat's webhook is a secret itself; only `http`
//! and `https` are spoken; a program is a list of words, never a line for a shell.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::Kind;

/// The longest name of a target.
const LONGEST_NAME: usize = 64;

/// The shortest secret to sign with.
const SHORTEST_SECRET: usize = 16;

/// A shorter value is not searched for in texts: it would hide the text.
const SHORTEST_HIDDEN: usize = 8;

/// Headers that are ours to write.
const OURS: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Text that is stored and used, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever uses it.
    pub(super) fn bare(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[masked]")
    }
}

/// Whom to tell, and about what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// By which it is known; one of a kind.
    pub name: String,
    /// About what; the usual three without it.
    #[serde(default = "Target::usual")]
    pub on: Vec<Kind>,
    /// How it is reached.
    pub to: To,
}

/// How a target is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schema(as = WebhookTo)]
pub enum To {
    /// A POST to an address.
    Webhook {
        /// Where: `https://…` or `http://…`.
        #[schema(value_type = String)]
        url: Secret,
        /// With what it is signed. May be missing for a chat, which knows its caller by the address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        secret: Option<Secret>,
        /// Further headers, such as `Authorization`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schema(value_type = BTreeMap<String, String>)]
        headers: BTreeMap<String, Secret>,
        /// What the body looks like.
        #[serde(default)]
        shape: Shape,
    },
    /// A program, with the JSON on its stdin.
    Program {
        /// The program and its arguments, as they are: no shell reads them.
        argv: Vec<String>,
        /// The folder it runs in; the root of the file system without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        cwd: Option<PathBuf>,
        /// Names of variables of the host that it may see beside the few it always gets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
    },
}

/// What the body of a POST looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookShape)]
pub enum Shape {
    /// Everything there is to tell.
    #[default]
    Full,
    /// `{"text": "…"}`: Slack, Mattermost, Google Chat.
    Text,
    /// `{"content": "…"}`: Discord.
    Content,
}

/// Why a target is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadTarget {
    /// The name does not fit.
    #[error("a target has a name of 1 to {LONGEST_NAME} letters, digits, `-`, `_`, `.`")]
    Name,
    /// Another one has that name.
    #[error("there are two targets `{0}`: give one of them another name")]
    Twice(String),
    /// The address does not fit.
    #[error("the address of `{name}` does not fit: {why}")]
    Url {
        /// Of which target.
        name: String,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// Nothing to sign with.
    #[error(
        "`{0}` has no secret of {SHORTEST_SECRET} characters or more to sign with: set one, and tell it to the receiver"
    )]
    NoSecret(String),
    /// A header does not fit.
    #[error("`{name}` may not set the header {header:?}: leave it out, or mend its name or value")]
    Header {
        /// Of which target.
        name: String,
        /// Which.
        header: String,
    },
    /// No program.
    #[error(
        "`{0}` names no program: put the program first, then its arguments, each as a word of its own"
    )]
    NoProgram(String),
    /// A word of it cannot be passed on.
    #[error("`{0}` has a NUL in its program, arguments, folder or names of variables: take it out")]
    Nul(String),
}

impl Target {
    /// What one is told about that says nothing else.
    pub fn usual() -> Vec<Kind> {
        vec![Kind::NeedsYou, Kind::Finished, Kind::Failed]
    }

    /// Whether it is to be told about this.
    pub fn wants(&self, kind: Kind) -> bool {
        kind == Kind::Test || self.on.contains(&kind)
    }

    /// Whether it is sound.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn check(&self) -> Result<(), BadTarget> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > LONGEST_NAME || !self.name.chars().all(fits) {
            return Err(BadTarget::Name);
        }
        match &self.to {
            To::Webhook {
                secret,
                headers,
                shape,
                ..
            } => {
                let url = |why| BadTarget::Url {
                    name: self.name.clone(),
                    why,
                };
                self.address().map_err(url)?;
                let signs = secret
                    .as_ref()
                    .is_some_and(|secret| secret.bare().len() >= SHORTEST_SECRET);
                if !signs && (*shape == Shape::Full || secret.is_some()) {
                    return Err(BadTarget::NoSecret(self.name.clone()));
                }
                headers.iter().try_for_each(|one| self.check_header(one))
            }
            To::Program { argv, cwd, env } => self.check_program(argv, cwd.as_ref(), env),
        }
    }

    fn check_header(&self, (header, value): (&String, &Secret)) -> Result<(), BadTarget> {
        let lower = header.to_ascii_lowercase();
        let is_ours = OURS.contains(&lower.as_str()) || lower.starts_with("countersign-");
        let is_sound = HeaderName::try_from(header.as_str()).is_ok()
            && HeaderValue::try_from(value.bare()).is_ok();
        (is_sound && !is_ours).then_some(()).ok_or_else(|| {
            let (name, header) = (self.name.clone(), header.chars().take(80).collect());
            BadTarget::Header { name, header }
        })
    }

    fn check_program(
        &self,
        argv: &[String],
        cwd: Option<&PathBuf>,
        env: &[String],
    ) -> Result<(), BadTarget> {
        if argv.first().is_none_or(String::is_empty) {
            return Err(BadTarget::NoProgram(self.name.clone()));
        }
        let cwd = cwd.map(|cwd| cwd.to_string_lossy());
        let mut words = argv.iter().map(String::as_str).chain(cwd.as_deref());
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
        if words.any(|word| word.contains('\0')) || !env.iter().all(is_name) {
            return Err(BadTarget::Nul(self.name.clone()));
        }
        Ok(())
    }

    /// The address of a webhook, read.
    pub(super) fn address(&self) -> Result<Uri, &'static str> {
        let To::Webhook { url, .. } = &self.to else {
            return Err("it is a program");
        };
        let uri: Uri = url
            .bare()
            .parse()
            .map_err(|_| "give a whole one, such as https://example.com/hook")?;
        let Some(authority) = uri.authority() else {
            return Err("give a whole one, such as https://example.com/hook");
        };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err("only http and https are spoken");
        }
        if authority.as_str().contains('@') {
            return Err("put user and password into the header Authorization");
        }
        Ok(uri)
    }

    /// Where it is, as far as it may be shown: the rest of an address may be a secret.
    pub fn place(&self) -> String {
        match &self.to {
            To::Webhook { .. } => self.address().map_or_else(
                |_| "[no address]".to_owned(),
                |uri| {
                    let scheme = uri.scheme_str().unwrap_or_default();
                    format!("{scheme}://{}/…", uri.host().unwrap_or_default())
                },
            ),
            To::Program { argv, .. } => argv.first().cloned().unwrap_or_default(),
        }
    }

    /// A text that may be shown: without this target's secrets, and without what looks like one.
    pub(super) fn shown(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets() {
            if secret.len() >= SHORTEST_HIDDEN {
                text = text.replace(secret, "[masked]");
            }
        }
        super::summary::masked(&text)
    }

    fn secrets(&self) -> Vec<&str> {
        self.to.secrets()
    }
}

impl To {
    /// What of it may show nowhere.
    pub fn hidden(&self) -> Vec<String> {
        self.secrets().into_iter().map(str::to_owned).collect()
    }

    fn secrets(&self) -> Vec<&str> {
        let Self::Webhook {
            url,
            secret,
            headers,
            ..
        } = self
        else {
            return Vec::new();
        };
        let url = url.bare();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let words = headers
            .values()
            .flat_map(|value| value.bare().split_whitespace());
        let mut all: Vec<&str> = [url, path].into_iter().chain(words).collect();
        all.extend(secret.iter().map(Secret::bare));
        all
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
