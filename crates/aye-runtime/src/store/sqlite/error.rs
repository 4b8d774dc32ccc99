//! What an error of SQLite means for the journal.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::store::StoreError;

/// A cell that does not hold what this program writes there.
#[derive(Debug)]
pub(super) struct BadCell(pub(super) String);

impl BadCell {
    /// Tells a cell from a failure of SQLite.
    pub(super) fn of(error: rusqlite::Error) -> Result<Self, rusqlite::Error> {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, why) => Ok(Self(why.to_string())),
            error if error.sqlite_error().is_some() => Err(error),
            error => Ok(Self(error.to_string())),
        }
    }
}

impl StoreError {
    /// What an error of SQLite means for the journal at `path`.
    pub(super) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let message = error.to_string();
        let Some(failure) = error.sqlite_error() else {
            // A column of another type than the schema's, or no row at all.
            return Self::Damaged { path, message };
        };
        match failure.extended_code {
            // Not only a failing disk: a quota and a file size limit end here.
            ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE => return Self::Full { path },
            _ => {}
        }
        match failure.code {
            ErrorCode::DiskFull => Self::Full { path },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TypeMismatch => {
                Self::Damaged { path, message }
            }
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Self::Busy { path },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
                Self::ReadOnly { path }
            }
            _ => Self::Io { path, message },
        }
    }
}
