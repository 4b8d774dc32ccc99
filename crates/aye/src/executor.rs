//! What the servers run on: one thread.

use aye_runtime::error::Error;
use tokio::runtime::{Builder, Runtime};

pub(crate) fn executor() -> Result<Runtime, Error> {
    let built = Builder::new_current_thread().enable_io().enable_time().build();
    built.map_err(Error::system("make an executor"))
}
