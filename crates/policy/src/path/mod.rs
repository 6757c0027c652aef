//! Which file is meant: by a call, and by a rule.
//!
//! Owns [`Target`] (a path as it is written, and where it leads), [`PathPattern`] (the content of a rule for files) and
//! the list of what no rule opens ([`Closed`]). Pure but for [`crate::Disk`]; nothing here reads a file.
//!
//! A path has two truths: its letters and where its links lead. A rule that allows must mean both, a rule that
//! restricts means either. What cannot be said is [`crate::Fit::Maybe`] and is never allowed. Two limits, on purpose: a hard
//! link is a second name of equal right and is not seen, and the disk may change between the verdict and the call.
//!
//! Paths are those of the system this runs on. On Unix `\` is a letter like any other. On Windows it separates, `C:\x` is
//! written `//c/x` in a rule, and a name that Windows reads in a second way (`GIT~1`, `x.`, `x:stream`) leads nobody knows
//! where.

mod below;
mod braces;
mod expand;
mod fits;
mod name;
mod names;
mod pattern;
mod protected;
mod target;
#[cfg(all(test, unix))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use braces::written_out as braces_written_out;
pub(crate) use expand::found_by;
pub use pattern::PathPattern;
pub use protected::Closed;
pub use target::Target;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Touch {
    /// It is read, or listed.
    Read,
    /// It is made, changed, moved or removed.
    Write,
}
