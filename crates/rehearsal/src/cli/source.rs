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

/// A lasting change that an answer of the host asks for, in the settings of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct SettingsEdit {
    /// Whose file.
    pub(in crate::cli) source: Source,
    /// The keys, from the outermost: `permissions.allow`, say.
    pub(in crate::cli) path: [&'static str; 2],
    pub(in crate::cli) change: SettingsChange,
}

/// What becomes of the value at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum SettingsChange {
    /// These are added to the list, unless they are there.
    Add(Vec<String>),
    /// These are taken out of the list.
    Remove(Vec<String>),
    /// This stands in its place.
    Set(serde_json::Value),
}
