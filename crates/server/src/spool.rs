//! Files without a name, for what is too large for memory and goes through the server: they are gone when nobody reads
//! them any more, also when the server is killed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a line at most: a text of 64 KiB with every byte escaped, with room.
const LINE_BYTES_MAX: u64 = 1 << 20;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A whole file that nobody changes any more. Clones share it; each reads it from the beginning.
#[derive(Clone, Debug)]
pub struct Spool {
    file: Arc<File>,
    bytes: u64,
}

impl Spool {
    /// A new file, to be written and then [kept](Self::of).
    pub(crate) fn create(folder: &Path) -> io::Result<File> {
        let path = path(folder);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }

    /// What was written to a file.
    pub(crate) fn of(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), bytes })
    }

    /// What `write` writes.
    pub(crate) fn written<E: From<io::Error>>(
        folder: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut out = io::BufWriter::new(Self::create(folder)?);
        write(&mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Self::of(file)?)
    }

    /// What `make` puts at a path that it is given, where nothing is.
    pub(crate) fn made<E: From<io::Error>>(
        folder: &Path,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Self, E> {
        let path = path(folder);
        let made = make(&path).and_then(|()| Ok(Self::of(File::open(&path)?)?));
        // It has no name from here on; if it was never made, there is none to take.
        let _ = std::fs::remove_file(&path);
        made
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes from a place on; none at the end.
    pub(crate) fn chunk(&self, from: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut chunk = vec![0; bytes_max];
        let read = self.file.read_at(&mut chunk, from)?;
        chunk.truncate(read);
        Ok(chunk)
    }

    /// Its lines, from the first.
    pub(crate) fn lines(&self) -> Lines {
        Lines { from: BufReader::new(At { spool: self.clone(), offset: 0 }) }
    }
}

/// Lines of a spool.
pub(crate) struct Lines {
    from: BufReader<At>,
}

impl Iterator for Lines {
    type Item = io::Result<Vec<u8>>;

    /// The next line, without its end. One that is too long is an error of the kind `FileTooLarge`.
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let mut line = Vec::new();
        match self.from.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.len() as u64 > LINE_BYTES_MAX {
            return Some(Err(io::ErrorKind::FileTooLarge.into()));
        }
        Some(Ok(line))
    }
}

struct At {
    spool: Spool,
    offset: u64,
}

impl Read for At {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.spool.file.read_at(into, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Removes what a server that was killed had not taken the name from yet.
pub(crate) fn sweep(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(NAME) {
            // It only takes space.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

const NAME: &str = "spool-";

fn path(folder: &Path) -> PathBuf {
    folder.join(format!("{NAME}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

#[cfg(test)]
mod tests;
