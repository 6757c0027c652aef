//! Where a setting or a rule comes from, in the CLI's own words.

/// A source of settings, or the place an update is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::cli) enum Source {
    /// `settings.json` in the user's folder.
    User,
    /// `.claude/settings.json` of the project.
    Project,
    /// `.claude/settings.local.json` of the project.
    Local,
    /// `--settings` and `apply_flag_settings`.
    Flag,
    /// What an administrator set.
    Policy,
    /// `--allowedTools`, `--disallowedTools`, `--add-dir`.
    CliArg,
    /// This session only.
    Session,
}

impl Source {
    /// Every source, in the order in which later ones win.
    pub(in crate::cli) const ALL: [(&'static str, Source); 7] = [
        ("userSettings", Source::User),
        ("projectSettings", Source::Project),
        ("localSettings", Source::Local),
        ("flagSettings", Source::Flag),
        ("policySettings", Source::Policy),
        ("cliArg", Source::CliArg),
        ("session", Source::Session),
    ];

    /// The source that is written so on the wire.
    pub(in crate::cli) fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, source)| *source)
    }

    /// How it is written on the wire.
    pub(in crate::cli) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, source)| *source == self);
        found.map_or("session", |(name, _)| name)
    }
}

/// A lasting change that an answer of the host asks for: a path of keys in the settings of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum SettingsEdit {
    /// Adds these values to the list at the path, unless they are there: `permissions.allow`, say.
    Add {
        /// Whose file.
        source: Source,
        /// The keys, from the outermost.
        path: [&'static str; 2],
        /// The values.
        values: Vec<String>,
    },
    /// Takes these values out of the list at the path.
    Remove {
        /// Whose file.
        source: Source,
        /// The keys, from the outermost.
        path: [&'static str; 2],
        /// The values.
        values: Vec<String>,
    },
    /// Puts this in place of the value at the path: `permissions.defaultMode`, or a whole list.
    Set {
        /// Whose file.
        source: Source,
        /// The keys, from the outermost.
        path: [&'static str; 2],
        /// The new value.
        value: serde_json::Value,
    },
}
