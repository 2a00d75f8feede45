//! The process that receives: at the last event of a block, it writes the latencies of the block.

use punctual_os::clock;

use crate::{Result, engine::Engine};

/// Kind of an event, by its first octet.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Kind {
    /// Shows that the way is open; the subscriber answers with an empty array.
    Opener,
    /// Finds cold caches; is not measured.
    First,
    Measured,
    /// The last one of a block, measured as well.
    Last,
}

pub fn run(engine: Engine, address: &str) -> Result<()> {
    let mut latencies: Vec<u64> = Vec::with_capacity(1 << 20);
    engine.subscribe(address, move |octets| {
        let now = clock::monotonic().as_nanos() as u64;
        let Some((kind, sent)) = read(octets) else { return };
        if kind >= Kind::Measured as u8 {
            latencies.push(now.saturating_sub(sent));
        }
        if kind == Kind::Opener as u8 || kind == Kind::Last as u8 {
            println!("{latencies:?}");
            latencies.clear();
        }
    })
}

fn read(octets: &[u8]) -> Option<(u8, u64)> {
    let sent = octets.get(8..16)?.try_into().ok()?;
    Some((*octets.first()?, u64::from_le_bytes(sent)))
}
