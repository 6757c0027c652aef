//! How our words stand in columns.
//!
//! Owns the forms: ids and digests as text, everything with a shape of its own as JSON. Invariant: what cannot be read
//! back is an error, never a default.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
