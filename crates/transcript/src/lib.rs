//! A journal folded into what a person reads: text, thinking, tool calls with their results, questions, costs.
//!
//! Pure: records in, changes of entries out. Knows no files, no clock and no runtime. Invariant: the same records give
//! the same entries with the same ids, whether they were folded in one go or from a checkpoint.
#![warn(missing_docs)]
