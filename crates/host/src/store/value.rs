//! How our words stand in columns.
//!
//! Owns the forms: ids and digests as text, everything with a shape of its own as JSON. Invariant: what cannot be read
//! back is an error, never a default.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::control::{ApprovalId, Digest, MessageId, SessionId};

/// A column of JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0);
        text.map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// The columns of a row, one after the other. By its name, each would be looked for among all of them.
pub(super) struct Columns<'a, 'stmt> {
    row: &'a Row<'stmt>,
    next: usize,
}

impl<'a, 'stmt> Columns<'a, 'stmt> {
    pub(super) fn of(row: &'a Row<'stmt>) -> Self {
        Self { row, next: 0 }
    }

    pub(super) fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        self.row.get(at)
    }

    pub(super) fn next_json<T: DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        self.next::<Json<T>>().map(|json| json.0)
    }

    /// JSON whose texts stay where they are.
    pub(super) fn next_borrowed<T: Deserialize<'a>>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        let value = self.row.get_ref(at)?;
        let text = value.as_str()?;
        serde_json::from_str(text).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(at, value.data_type(), error.into())
        })
    }
}

/// A column of text with a form of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<T>(pub(super) T);

impl<T: fmt::Display> ToSql for Text<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_string().into())
    }
}

impl<T: FromStr<Err: std::error::Error + Send + Sync + 'static>> FromSql for Text<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_str()?
            .parse()
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

macro_rules! as_text {
    ($($name:ident)*) => {$(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.to_string().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(FromSqlError::other)
            }
        }
    )*};
}

as_text!(SessionId ApprovalId MessageId);

impl ToSql for Digest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::named)
    }
}

/// The text of a path.
pub(super) fn path_text(path: &Path) -> Result<&str, StoreError> {
    path.to_str().ok_or_else(|| {
        StoreError::Invalid(format!(
            "{} cannot be stored: its name is not UTF-8; rename it",
            path.display()
        ))
    })
}
