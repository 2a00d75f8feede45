//! The octets of service context 30, as `docs/scheduling-context.md` specifies them.

mod bad_input;
mod deadlines;
mod fuzzed;
mod golden;
mod peers;
mod round_trips;

use punctual_rtsched::wire::{Clocks, PeerLayout, Reader, UtcTime};
use punctual_sched::dynamic::Time;

/// About 2038, on a host that was started an hour ago.
const CLOCKS: Clocks = Clocks {
    local: Time(3_600_000_000_000),
    utc: UtcTime(0x01f0_0000_0000_0000),
};

fn reader(layout: PeerLayout) -> Reader {
    Reader::new(CLOCKS, layout)
}

/// Octets from hexadecimal digits; white space separates fields.
fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    assert!(digits.len().is_multiple_of(2), "{text}");
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}
