//! Any octets as service context 30, in each layout: what the fuzz target `contexts` checks.

use punctual_cdr::Endian;
use punctual_rtsched::wire::{Clocks, PeerLayout, Reader, Reading, SchedulingContext, UtcTime};
use punctual_sched::dynamic::Time;

pub const LAYOUTS: [PeerLayout; 6] = [
    PeerLayout::OwnOnly,
    PeerLayout::FixedPriority,
    PeerLayout::MostImportantFirst,
    PeerLayout::KokyuFixedPriority,
    PeerLayout::KokyuMostImportantFirst,
    PeerLayout::KokyuMaximumUrgencyFirst,
];
const CLOCKS: Clocks = Clocks {
    local: Time(3_600_000_000_000),
    utc: UtcTime(0x01f0_0000_0000_0000),
};

/// Reads the octets in the layout that the first octet selects. A context that is written and read again is
/// the same from then on: the first time, a time beyond the clocks may become the last one.
pub fn check(input: &[u8]) {
    let Some((selector, octets)) = input.split_first() else {
        return;
    };
    let layout = LAYOUTS[usize::from(*selector) % LAYOUTS.len()];
    let Ok(Reading::Context(context)) = Reader::new(CLOCKS, layout).read(octets) else {
        return;
    };
    for endian in [Endian::Little, Endian::Big] {
        let once = again(&context, endian);
        assert_eq!(again(&once, endian), once, "{context:?}");
    }
}

fn again(context: &SchedulingContext, endian: Endian) -> SchedulingContext {
    let octets = context.encode(&CLOCKS, endian);
    match Reader::new(CLOCKS, PeerLayout::OwnOnly).read(&octets) {
        Ok(Reading::Context(context)) => context,
        other => panic!("{context:?}: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../../fuzz/corpus/contexts.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
        let reads = |input: &&[u8]| {
            let layout = LAYOUTS[usize::from(input[0])];
            matches!(
                Reader::new(CLOCKS, layout).read(&input[1..]),
                Ok(Reading::Context(_))
            )
        };
        let read = corpus().inputs().filter(reads).count();
        assert!(read >= 6, "{read}");
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, check);
    }
}
