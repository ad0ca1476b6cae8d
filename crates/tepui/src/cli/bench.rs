//! `tepui bench`.

use anyhow::Result;

use super::Exit;
use super::args::BenchArgs;

pub(crate) fn bench(_: &BenchArgs) -> Result<Exit> {
    Ok(Exit::Good)
}
