//! A pseudo-terminal for the output of a child.
//!
//! It is nobody's controlling terminal: nobody types into it. Programs ask
//! whether their output is a terminal and how wide it is, and for that it
//! suffices.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, OutputModes, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

pub(crate) struct Pair {
    pub(crate) master: OwnedFd,
    pub(crate) slave: OwnedFd,
}

/// What programs assume when nobody knows.
const FALLBACK: (u16, u16) = (80, 24);

/// A pair of the size of our own terminal.
pub(crate) fn open() -> io::Result<Pair> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    // Not every platform can set the mark while opening.
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let slave =
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    // Line ends stay as the program wrote them.
    let mut modes = tcgetattr(&slave)?;
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    let own = [rustix::stdio::stdout(), rustix::stdio::stderr(), rustix::stdio::stdin()];
    let size = own.into_iter().find_map(|fd| tcgetwinsize(fd).ok()).filter(|size| size.ws_col > 0);
    let (columns, rows) = size.map_or(FALLBACK, |size| (size.ws_col, size.ws_row));
    let pair = Pair { master, slave };
    set_size(std::os::fd::AsFd::as_fd(&pair.master), columns, rows)?;
    Ok(pair)
}

pub(crate) fn set_size(master: BorrowedFd<'_>, columns: u16, rows: u16) -> io::Result<()> {
    Ok(tcsetwinsize(master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?)
}
