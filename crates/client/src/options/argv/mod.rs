//! Options → arguments and `initialize`, as a draft: large and secret values are still in it, as files to write.
//!
//! Pure, but for a settings file that must be merged. Owns what stands where; [`crate::launch`] writes the files.
//! Invariants: no single argument is over [`INLINE_LIMIT`], and no value can be taken for another flag.

mod groups;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use countersign_wire::control::Initialize;

use super::capability::{Capabilities, Support};
use super::error::OptionError;
use super::lint::Warning;
use super::{Needs, Options};

/// Most bytes of one argument. Linux takes 128 KiB, Windows 32 KiB for all of them together.
pub(crate) const INLINE_LIMIT: usize = if cfg!(windows) { 8 * 1024 } else { 100 * 1024 };

/// Most bytes of all arguments. Linux takes a quarter of the stack's limit, usually 2 MiB, with the environment.
const TOTAL_LIMIT: usize = if cfg!(windows) {
    30 * 1024
} else {
    1024 * 1024
};

/// Flags whose value may be left out: the value must stand in the same word. Not `--setting-sources`: CLIs up to 2.0.42 look
/// for its value in the word behind it, and with `=` they load the settings of a folder that nobody trusts.
const JOINED: &[&str] = &[
    "--resume",
    "--session-id",
    "--resume-session-at",
    "--resume-drops-turn",
];

/// What follows a flag.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum ArgValue {
    None,
    Inline(OsString),
    /// Goes to a file of its own, whose path is the value.
    InFile(String),
}

/// One flag.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) flag: Cow<'static, str>,
    pub(crate) value: ArgValue,
}

impl Arg {
    /// The words on the command line; `file` is where [`ArgValue::InFile`] was written.
    pub(crate) fn words(&self, file: Option<&Path>) -> Vec<OsString> {
        let value = match (&self.value, file) {
            (ArgValue::Inline(value), _) => value.clone(),
            (ArgValue::InFile(_), Some(path)) => path.into(),
            _ => return vec![self.flag.as_ref().into()],
        };
        let leads_with_dash = value.as_encoded_bytes().starts_with(b"-");
        if leads_with_dash || JOINED.contains(&self.flag.as_ref()) {
            let mut word = OsString::from(self.flag.as_ref());
            word.push("=");
            word.push(value);
            vec![word]
        } else {
            vec![self.flag.as_ref().into(), value]
        }
    }

    /// What is to be written to the file.
    pub(crate) fn contents(&self) -> Option<&str> {
        match &self.value {
            ArgValue::InFile(contents) => Some(contents),
            _ => None,
        }
    }

    fn inline_len(&self) -> usize {
        let value = match &self.value {
            ArgValue::Inline(value) => value.len(),
            _ => 0,
        };
        self.flag.len() + value + 2
    }
}

/// The arguments and the introduction of a run, before files are written.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) args: Vec<Arg>,
    pub(crate) initialize: Initialize,
    /// `initialize` must be the first line on stdin.
    pub(crate) initialize_first: bool,
    pub(crate) warnings: Vec<Warning>,
}

impl Draft {
    /// What these options mean to a CLI of these capabilities.
    pub(crate) fn of(
        options: &Options,
        needs: &Needs,
        capabilities: &Capabilities,
    ) -> Result<Self, OptionError> {
        let mut draft = Self::default();
        for (flag, value) in [
            ("--input-format", "stream-json"),
            ("--output-format", "stream-json"),
        ] {
            draft.pair(flag, value);
        }
        draft.flag("--verbose", true);
        draft.stream(options)?;
        draft.model(options)?;
        draft.prompt(options);
        draft.permission(options, needs)?;
        draft.session(options)?;
        draft.extension(options, needs, capabilities)?;
        draft.settings(options, needs, capabilities)?;
        draft.extra(options)?;
        draft.check_sizes()?;
        Ok(draft)
    }

    /// Checks each flag, and each field of `initialize`, against the version.
    ///
    /// # Errors
    /// When the version is known not to have a flag, since the CLI would end with exit code 1.
    pub(crate) fn check_version(&mut self, capabilities: &Capabilities) -> Result<(), OptionError> {
        for arg in &self.args {
            let flag = arg.flag.as_ref();
            match (capabilities.flag_supported(flag), capabilities.version()) {
                (Support::No, Some(version)) => {
                    return Err(OptionError::FlagNotInVersion {
                        option: option_name(flag),
                        flag: flag.to_owned(),
                        version,
                        since: Capabilities::flag_since(flag).unwrap_or(version),
                    });
                }
                (Support::Unmeasured, version) => self.warnings.push(Warning::FlagUnmeasured {
                    flag: flag.to_owned(),
                    version,
                }),
                _ => {}
            }
        }
        if let Some(version) = capabilities.version() {
            if self.has("--fork-session")
                && self.has("--session-id")
                && !capabilities.takes_id_of_fork()
            {
                return Err(OptionError::ForkIdNotInVersion(version));
            }
            for field in self.initialize_fields()? {
                if capabilities.initialize_reads(&field) == Support::No {
                    self.warnings.push(Warning::FieldIgnored { field, version });
                }
            }
        }
        Ok(())
    }

    fn initialize_fields(&self) -> Result<Vec<String>, OptionError> {
        let json = |source| OptionError::Json {
            option: "initialize",
            source,
        };
        let fields = serde_json::to_value(&self.initialize).map_err(json)?;
        let names = fields
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys());
        Ok(names.cloned().collect())
    }

    /// Whether a flag is there.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg.flag == flag)
    }

    /// The inline value of a flag.
    pub(crate) fn value(&self, flag: &str) -> Option<&str> {
        self.args
            .iter()
            .rev()
            .find(|arg| arg.flag == flag)
            .and_then(|arg| match &arg.value {
                ArgValue::Inline(value) => value.to_str(),
                _ => None,
            })
    }

    fn push(&mut self, flag: impl Into<Cow<'static, str>>, value: ArgValue) {
        self.args.push(Arg {
            flag: flag.into(),
            value,
        });
    }

    fn flag(&mut self, flag: &'static str, on: bool) {
        if on {
            self.push(flag, ArgValue::None);
        }
    }

    fn pair(&mut self, flag: &'static str, value: impl Into<OsString>) {
        self.push(flag, ArgValue::Inline(value.into()));
    }

    fn pair_if(&mut self, flag: &'static str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            self.pair(flag, value);
        }
    }

    /// A comma list. A long one is given in portions, each under the limit: the CLI adds up repeated lists, and the
    /// meaning stays that of the flag.
    fn list(&mut self, flag: &'static str, items: &[String]) {
        let mut portion = String::new();
        for item in items {
            if !portion.is_empty() && portion.len() + 1 + item.len() > INLINE_LIMIT {
                self.pair(flag, std::mem::take(&mut portion));
            }
            if !portion.is_empty() {
                portion.push(',');
            }
            portion.push_str(item);
        }
        if !portion.is_empty() {
            self.pair(flag, portion);
        }
    }

    /// A text that may also stand in a file. A secret always does: any user of the machine can read arguments.
    fn text_or_file(
        &mut self,
        flag: &'static str,
        in_file: &'static str,
        text: &str,
        secret: bool,
    ) {
        if secret || text.len() > INLINE_LIMIT {
            self.push(in_file, ArgValue::InFile(text.to_owned()));
        } else {
            self.pair(flag, text);
        }
    }

    fn check_sizes(&self) -> Result<(), OptionError> {
        for arg in &self.args {
            let ArgValue::Inline(value) = &arg.value else {
                continue;
            };
            if value.as_encoded_bytes().contains(&0) {
                return Err(OptionError::Nul(arg.flag.to_string()));
            }
            if value.len() > INLINE_LIMIT {
                return Err(OptionError::ValueTooLong {
                    flag: arg.flag.to_string(),
                    bytes: value.len(),
                });
            }
        }
        let bytes = self.args.iter().map(Arg::inline_len).sum();
        if bytes > TOTAL_LIMIT {
            return Err(OptionError::ArgumentsTooLong { bytes });
        }
        Ok(())
    }
}

/// The setter behind a flag: they are named after each other.
fn option_name(flag: &str) -> String {
    match flag {
        "--plugin-dir-no-mcp" => "plugin".to_owned(),
        "--managed-settings-in-initialize" => "managed_settings".to_owned(),
        flag => flag.trim_start_matches('-').replace('-', "_"),
    }
}
