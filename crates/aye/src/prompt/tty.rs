//! The terminal itself: opened directly, put back as it was found.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush,
    tcgetattr, tcgetwinsize, tcsetattr,
};

use super::poll::poll;

/// Pasted text is announced as such, so that it is never taken for keys.
const PASTE_ON: &str = "\u{1b}[?2004h";
const PASTE_OFF: &str = "\u{1b}[?2004l";

/// A special character that is switched off.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DISABLED: u8 = 0;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DISABLED: u8 = 0xff;

/// The terminal as this process found it: a prompt takes it from a report that
/// already has it, and a panic runs no destructor.
static FOUND: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);

/// How the terminal is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Key by key, nothing echoed. Ctrl-C and Ctrl-Z still are signals.
    Keys,
    /// Line by line, as the terminal does it.
    Lines,
    /// Line by line, nothing echoed.
    HiddenLines,
    /// Nothing echoed, and nobody reads. Every signal stays a signal.
    Silent,
}

/// The controlling terminal.
#[derive(Debug)]
pub(super) struct Tty {
    file: File,
    /// The modes to go back to.
    found: Option<Termios>,
    /// The modes that ours are made from: those of nobody in this process.
    original: Option<Termios>,
    /// Nobody in this process had it before.
    outermost: bool,
    mode: Mode,
}

impl Tty {
    /// Opens it, or says why this is not a place to ask.
    pub(super) fn open() -> Result<Self, String> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .map_err(|_| "there is no terminal".to_owned())?;
        let tty = Self { file, found: None, original: None, outermost: false, mode: Mode::Lines };
        match tty.is_foreground() {
            true => Ok(tty),
            false => Err("this process is in the background".to_owned()),
        }
    }

    /// Whether the terminal talks to us.
    pub(super) fn is_foreground(&self) -> bool {
        aye_process::group::in_foreground(&self.file)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.file) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (usize::from(size.ws_col), usize::from(size.ws_row))
            }
            Ok(_) | Err(_) => (80, 24),
        }
    }

    /// Takes the terminal over. What was typed before is not for us.
    pub(super) fn take(&mut self, mode: Mode) -> io::Result<()> {
        if self.found.is_some() {
            return Ok(());
        }
        let found = tcgetattr(&self.file)?;
        restore_on_panic();
        let original = match &mut *FOUND.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((_, original)) => original.clone(),
            none => {
                *none = Some((self.file.as_fd().try_clone_to_owned()?, found.clone()));
                self.outermost = true;
                found.clone()
            }
        };
        self.found = Some(found);
        self.mode = mode;
        tcsetattr(&self.file, OptionalActions::Now, &changed(original.clone(), mode))?;
        self.original = Some(original);
        self.discard();
        if mode == Mode::Keys {
            self.write(PASTE_ON)?;
        }
        Ok(())
    }

    /// Takes it over again: a stop may have been sent without asking us, and
    /// a shell has used the terminal since.
    pub(super) fn retake(&mut self) {
        // If it fails, reading and writing will say so.
        let Some(original) = &self.original else {
            let _ = self.take(self.mode);
            return;
        };
        let _ = tcsetattr(&self.file, OptionalActions::Now, &changed(original.clone(), self.mode));
        if self.mode == Mode::Keys {
            let _ = self.write(PASTE_ON);
        }
    }

    /// Gives the terminal back as it was found, with nothing left to read.
    pub(super) fn give_back(&mut self) {
        let Some(found) = self.found.take() else {
            return;
        };
        self.original = None;
        if std::mem::take(&mut self.outermost) {
            *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        // In the background the terminal is someone else's, who has set it up
        // for themselves; touching it would stop us.
        if !self.is_foreground() {
            return;
        }
        // A terminal that has gone away needs no cleaning.
        if self.mode == Mode::Keys {
            let _ = self.write(PASTE_OFF);
        }
        self.discard();
        let _ = tcsetattr(&self.file, OptionalActions::Now, &found);
    }

    /// Throws away what was typed and not read.
    pub(super) fn discard(&mut self) {
        // A buffer that has been full takes nothing more, Ctrl-C included, until
        // it is read: the kernel does not look at it again when it is emptied.
        let mut buffer = [0; 4096];
        let is_key_by_key = matches!(self.mode, Mode::Keys | Mode::Silent);
        while is_key_by_key
            && poll(self.as_fd(), &[], Instant::now()).typed
            && self.read(&mut buffer).is_ok_and(|count| count > 0)
        {}
        let _ = tcflush(&self.file, QueueSelector::IFlush);
    }

    /// Reads what there is.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Writes it all.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())
    }
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.give_back();
    }
}

fn changed(mut modes: Termios, mode: Mode) -> Termios {
    match mode {
        Mode::Keys => {
            modes.local_modes.remove(
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN,
            );
            modes.input_modes.remove(
                InputModes::ICRNL
                    | InputModes::INLCR
                    | InputModes::IGNCR
                    | InputModes::IXON
                    | InputModes::ISTRIP,
            );
            // A signal from here is a wish to stop, not to leave a core dump
            // and a terminal without echo.
            modes.special_codes[SpecialCodeIndex::VQUIT] = DISABLED;
            // Reading never blocks; `poll` says when there is something.
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        }
        Mode::Lines => {
            modes.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO);
            modes.input_modes.insert(InputModes::ICRNL);
        }
        Mode::HiddenLines => {
            modes.local_modes.insert(LocalModes::ICANON | LocalModes::ECHONL);
            modes.local_modes.remove(LocalModes::ECHO);
            modes.input_modes.insert(InputModes::ICRNL);
        }
        Mode::Silent => {
            modes.local_modes.remove(
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN,
            );
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            return modes;
        }
    }
    modes.local_modes.insert(LocalModes::ISIG);
    modes
}

/// A panic may abort without running destructors: the hook runs before.
fn restore_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if let Ok(mut found) = FOUND.try_lock()
                && let Some((tty, modes)) = found.take()
            {
                let _ = tcsetattr(&tty, OptionalActions::Now, &modes);
                let _ = rustix::io::write(&tty, PASTE_OFF.as_bytes());
                let _ = rustix::io::write(&tty, b"\r\n");
            }
            before(info);
        }));
    });
}
