//! Writing and removing request files.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::notify::{Delivered, Delivery, DeliveryError, Message};
use crate::ownership::{Other, is_ours};
use crate::settings::DropBoxChannel;

pub(in crate::notify) fn deliver(
    files: &DropBoxChannel,
    delivery: &Delivery,
) -> Result<Delivered, DeliveryError> {
    let failed =
        |error: io::Error| DeliveryError::new(format!("`{}`: {error}", files.directory.display()));
    prepare(&files.directory).map_err(failed)?;
    match delivery {
        Delivery::Send(message) => {
            let Some(id) = &message.request else { return Ok(Delivered::default()) };
            write(&files.directory, id, message).map_err(failed)?;
            Ok(Delivered { receipt: Some(id.clone()) })
        }
        Delivery::Retract(id) if is_id(id) => {
            for path in [request(&files.directory, id), response(&files.directory, id)] {
                match std::fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(failed(error));
                    }
                    _ => {}
                }
            }
            Ok(Delivered::default())
        }
        Delivery::Retract(_) => Ok(Delivered::default()),
    }
}

/// Makes the directories, and refuses one that others may write to: a request
/// there could be read, and an answer forged.
pub(super) fn prepare(directory: &Path) -> io::Result<()> {
    for path in [directory.to_path_buf(), requests(directory), responses(directory)] {
        match DirBuilder::new().recursive(true).mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let about = std::fs::symlink_metadata(&path)?;
        if !about.is_dir() || !is_ours(about.uid()) || Other::of(&about).is_some() {
            let message = format!(
                "`{}` has to be a directory of yours that nobody else may write to",
                path.display()
            );
            return Err(io::Error::other(message));
        }
    }
    Ok(())
}

fn write(directory: &Path, id: &str, message: &Message) -> io::Result<()> {
    let mut body = message.details.clone();
    body["id"] = id.into();
    body["choices"] = message.answerable.clone().into();
    let temporary = requests(directory).join(format!(".{id}.tmp"));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(format!("{body:#}\n").as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, request(directory, id))
}

/// Whether this could be the name of a request: 64 hexadecimal digits.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

pub(super) fn requests(directory: &Path) -> PathBuf {
    directory.join("requests")
}

pub(super) fn responses(directory: &Path) -> PathBuf {
    directory.join("responses")
}

pub(super) fn request(directory: &Path, id: &str) -> PathBuf {
    requests(directory).join(format!("{id}.json"))
}

fn response(directory: &Path, id: &str) -> PathBuf {
    responses(directory).join(format!("{id}.json"))
}
