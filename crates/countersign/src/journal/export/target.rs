//! Where an export goes: standard output, or a file that is there only when it is whole.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

pub(crate) enum Target {
    Stdout(BufWriter<Stdout>),
    File {
        file: BufWriter<NamedTempFile>,
        path: PathBuf,
        may_replace: bool,
    },
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Stdout(_) => f.write_str("standard output"),
            Target::File { path, .. } => write!(f, "{}", path.display()),
        }
    }
}

impl Target {
    /// Refuses a file that is there before anything is read.
    pub(crate) fn open(path: Option<&Path>, may_replace: bool) -> anyhow::Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Target::Stdout(BufWriter::new(io::stdout())));
        };
        if path.is_dir() {
            bail!("{} is a folder: give the name of a file", path.display());
        }
        if !may_replace && path.symlink_metadata().is_ok() {
            bail!(in_the_way(path));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder).with_context(|| {
            format!(
                "cannot write in {}: is it a folder of yours?",
                folder.display()
            )
        })?;
        Ok(Target::File {
            file: BufWriter::with_capacity(1 << 16, file),
            path: path.to_owned(),
            may_replace,
        })
    }

    /// Everything is written: the file takes its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Target::Stdout(mut out) => Ok(out.flush()?),
            Target::File {
                file,
                path,
                may_replace,
            } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                let moved = match may_replace {
                    true => file.persist(&path),
                    false => file.persist_noclobber(&path),
                };
                match moved {
                    Ok(_) => Ok(()),
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                        bail!(in_the_way(&path))
                    }
                    Err(error) => {
                        Err(error.error).with_context(|| format!("cannot write {}", path.display()))
                    }
                }
            }
        }
    }
}

fn in_the_way(path: &Path) -> String {
    format!(
        "{} is there already: choose another name, or replace it with --force",
        path.display()
    )
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(out) => out.write(bytes),
            Target::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File { file, .. } => file.flush(),
        }
    }
}
