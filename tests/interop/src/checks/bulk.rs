//! Much data: messages that come in fragments, and in many pieces.

use super::{Context, Outcome, checks, ensure, expect_eq};
use crate::interop::*;

checks![
    large_octets,
    large_longs,
    large_strings,
    large_string,
    large_doubles,
    large_inout,
    large_structs
];

const MEGABYTES: usize = 4 << 20;

fn checksum(octets: &[u8]) -> u32 {
    let add = |sum: u32, octet: &u8| sum.wrapping_mul(31).wrapping_add(u32::from(*octet));
    octets.iter().fold(0, add)
}

fn octets(count: usize) -> OctetSeq {
    (0..count).map(|i| (i * 7) as u8).collect()
}

fn longs(count: usize) -> LongSeq {
    (0..count as i32).map(|i| i * 3 - 1000).collect()
}

/// Compares without printing megabytes.
macro_rules! expect_same {
    ($found:expr, $expected:expr) => {
        ensure!($found == $expected)
    };
}

fn large_octets(x: &Context) -> Outcome {
    for count in [0, 1, 8100, 8192, 20_000, MEGABYTES] {
        let sent = octets(count);
        expect_eq!(x.peer.checksum(&sent)?, checksum(&sent));
        let expected: OctetSeq = (0..count).map(|i| (i % 251) as u8).collect();
        expect_same!(x.peer.make_octets(count as u32)?, expected);
    }
    Ok(())
}

fn large_longs(x: &Context) -> Outcome {
    for count in [2000, 2047, 2048, MEGABYTES / 4] {
        let sent = longs(count);
        expect_eq!(
            x.peer.sum_longs(&sent)?,
            sent.iter().map(|long| i64::from(*long)).sum::<i64>()
        );
        expect_same!(x.peer.make_longs(count as u32)?, sent);
    }
    Ok(())
}

fn large_strings(x: &Context) -> Outcome {
    let mut expected: StringSeq = (0..100_000).map(|i| format!("word-{i}")).collect();
    let mut words = x.peer.make_words(100_000)?;
    expect_same!(words, expected);
    x.peer.reverse_strings(&mut words)?;
    expected.reverse();
    expect_same!(words, expected);
    Ok(())
}

fn large_string(x: &Context) -> Outcome {
    let one = "x".repeat(MEGABYTES);
    expect_same!(x.peer.concat(&one, "end")?, one.clone() + "end");
    Ok(())
}

fn large_doubles(x: &Context) -> Outcome {
    let doubles: DoubleSeq = (0..100_000).map(|i| f64::from(i) * 0.5).collect();
    let mut b = Vec::new();
    let (result, d) = x.peer.rotate_doubles(&doubles, &mut b, &doubles)?;
    expect_same!(result, doubles);
    expect_same!(b, doubles);
    ensure!(d.is_empty());
    Ok(())
}

fn large_inout(x: &Context) -> Outcome {
    let sent = octets(1_000_003);
    let mut numbers = longs(300_001);
    let mut expected = numbers.clone();
    expected.reverse();
    let (sum, words) = x.peer.large(&sent, &mut numbers, 5000)?;
    expect_eq!(sum, checksum(&sent));
    expect_same!(numbers, expected);
    expect_eq!((words.len(), words[4999].as_str()), (5000, "word-4999"));
    Ok(())
}

fn large_structs(x: &Context) -> Outcome {
    let leaf = |i: usize| Leaf {
        text: "y".repeat(i % 50),
        values: longs(i % 30),
        tint: [Colour::Red, Colour::Green, Colour::Blue][i % 3],
        numbers: std::array::from_fn(|k| (i + k) as i32),
    };
    let leaves: LeafSeq = (0..5000).map(leaf).collect();
    let (result, d) = x.peer.rotate_leaves(&leaves, &mut Vec::new(), &[])?;
    expect_same!(result, leaves);
    ensure!(d.is_empty());
    let mixed = |i: usize| Mixed {
        real: i as f64,
        big: -(i as i64),
        ..Mixed::default()
    };
    let mixeds: MixedSeq = (0..5000).map(mixed).collect();
    let (result, d) = x.peer.rotate_mixeds(&mixeds, &mut Vec::new(), &[])?;
    expect_same!(result, mixeds);
    ensure!(d.is_empty());
    Ok(())
}
