//! Inputs of the tools that read, write and search files.

use countersign_wire_derive::Wire;

use crate::open::open_enum;
use crate::{Extra, Num};

/// Reads a file.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReadInput {
    /// Path of the file.
    pub file_path: String,
    /// Where to begin.
    pub offset: Option<Num>,
    /// How much at most.
    pub limit: Option<Num>,
    /// Pages of a PDF.
    pub pages: Option<String>,
    /// Read it even if it is large.
    pub allow_large: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Writes a whole file.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WriteInput {
    /// Path of the file.
    pub file_path: String,
    /// Its content.
    pub content: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Replaces text in a file.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct EditInput {
    /// Path of the file.
    pub file_path: String,
    /// Text to replace.
    pub old_string: String,
    /// Text to put there.
    pub new_string: String,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What a notebook cell holds.
    pub enum CellType {
        Code = "code",
        Markdown = "markdown",
    }
}

open_enum! {
    /// What to do with a notebook cell.
    pub enum NotebookEditMode {
        Replace = "replace",
        Insert = "insert",
        Delete = "delete",
    }
}

/// Changes a cell of a notebook.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct NotebookEditInput {
    /// Path of the notebook.
    pub notebook_path: String,
    /// The cell.
    pub cell_id: Option<String>,
    /// New source of the cell.
    pub new_source: String,
    /// What the cell holds.
    pub cell_type: Option<CellType>,
    /// What to do with the cell.
    pub edit_mode: Option<NotebookEditMode>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Finds files by name.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GlobInput {
    /// The pattern.
    pub pattern: String,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What a search gives back.
    pub enum GrepOutputMode {
        Content = "content",
        FilesWithMatches = "files_with_matches",
        Count = "count",
    }
}

/// Searches file contents.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GrepInput {
    /// The pattern.
    pub pattern: String,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Only files with such names.
    pub glob: Option<String>,
    /// What to give back.
    pub output_mode: Option<GrepOutputMode>,
    /// Lines before each hit.
    #[wire(rename = "-B")]
    pub b: Option<Num>,
    /// Lines after each hit.
    #[wire(rename = "-A")]
    pub a: Option<Num>,
    /// Lines around each hit.
    #[wire(rename = "-C")]
    pub c: Option<Num>,
    /// Lines around each hit.
    pub context: Option<Num>,
    /// Show line numbers.
    #[wire(rename = "-n")]
    pub n: Option<bool>,
    /// Ignore case.
    #[wire(rename = "-i")]
    pub i: Option<bool>,
    /// Only the part that fits.
    #[wire(rename = "-o")]
    pub o: Option<bool>,
    /// Only files of this type.
    #[wire(rename = "type")]
    pub kind: Option<String>,
    /// Most lines or files.
    pub head_limit: Option<Num>,
    /// Where to begin.
    pub offset: Option<Num>,
    /// Let `.` match line breaks.
    pub multiline: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}
