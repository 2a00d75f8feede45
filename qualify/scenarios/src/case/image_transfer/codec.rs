//! Compression of tiles to a given size: integer Haar wavelet (S transform), quantised, with runs of zeros.
//!
//! A tile has 4,096 pixels, and may have to fit into 256 octets. Streams of JPEG begin with tables of about
//! 600 octets, so that no encoder of that format can be used here.

/// Pixels of a side of a tile.
pub(super) const SIDE: usize = 64;
/// Pixels of a tile, each an octet.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Stands for a run of zeros, whose length follows.
const RUN: i8 = i8::MIN;
/// Largest quantised value.
const MOST: i32 = 127;
/// Largest binary logarithm of the quantiser's step.
const COARSEST: u8 = 8;

/// Returns the compressed tile: at most `limit` octets, and at least 2, with as much detail as they can have.
pub(super) fn compress(tile: &[u8], limit: usize) -> Vec<u8> {
    let coefficients = forward(tile);
    let limit = limit.max(2);
    let fits = (1..COARSEST).map(|step| encode(&coefficients, step, usize::MAX));
    let fitting = fits.into_iter().find(|octets| octets.len() <= limit);
    fitting.unwrap_or_else(|| encode(&coefficients, COARSEST, limit))
}

/// Returns the pixels. Octets that were never compressed give some picture.
pub(super) fn decompress(octets: &[u8]) -> Vec<u8> {
    let mut coefficients = vec![0i32; PIXELS];
    let Some((step, octets)) = octets.split_first() else {
        return vec![0; PIXELS];
    };
    let step = (*step).min(COARSEST);
    let (mut octets, mut places) = (octets.iter(), order());
    while let Some(octet) = octets.next() {
        let value = *octet as i8;
        if value == RUN {
            let run = octets.next().map_or(0, |length| usize::from(*length));
            if run > 0 {
                places.nth(run - 1);
            }
        } else if let Some((place, level)) = places.next() {
            coefficients[place] = i32::from(value) << shift(step, level);
        }
    }
    inverse(coefficients)
}

/// Number of levels of the transform.
const LEVELS: u8 = SIDE.ilog2() as u8;

/// The coarse coefficients first: the places of each level in rows, with the level. A coefficient of a
/// coarser level counts for more pixels, and has half the step of the next.
fn order() -> impl Iterator<Item = (usize, u8)> {
    let levels = (0..=LEVELS).map(|level| (level, (1usize << level) / 2..1 << level));
    levels.flat_map(|(level, ring)| {
        let all = (0..ring.end).flat_map(move |y| (0..ring.end).map(move |x| (x, y)));
        let own = all.filter(move |(x, y)| *x.max(y) >= ring.start || ring.end == 1);
        own.map(move |(x, y)| (y * SIDE + x, level))
    })
}

/// Returns the binary logarithm of a level's step, of which `step` is that of the finest level. A step of 2
/// is the least, so that differences of up to 254 can be stored.
fn shift(step: u8, level: u8) -> u8 {
    step.saturating_sub(LEVELS - level).max(1)
}

fn encode(coefficients: &[i32], step: u8, limit: usize) -> Vec<u8> {
    let mut octets = vec![step];
    let mut zeros = 0usize;
    for (place, level) in order() {
        let shift = shift(step, level);
        let rounding = (1 << shift) >> 1;
        let value = coefficients[place];
        let value = ((value.abs() + rounding) >> shift).min(MOST) * value.signum();
        if value == 0 {
            zeros += 1;
            continue;
        }
        let runs = zeros.div_ceil(255);
        if octets.len() + 2 * runs + 1 > limit {
            break;
        }
        while zeros > 0 {
            let run = zeros.min(255);
            octets.extend([RUN as u8, run as u8]);
            zeros -= run;
        }
        octets.push(value as i8 as u8);
    }
    octets
}

/// Middle of the range, which the mean value is stored relative to.
const MIDDLE: i32 = 128;

fn forward(tile: &[u8]) -> Vec<i32> {
    let mut values: Vec<i32> = tile.iter().map(|pixel| i32::from(*pixel)).collect();
    values.resize(PIXELS, 0);
    let mut size = SIDE;
    while size > 1 {
        for line in lines(size) {
            let mut halves = [0; SIDE];
            for pair in 0..size / 2 {
                let (one, other) = (values[line.place(2 * pair)], values[line.place(2 * pair + 1)]);
                halves[size / 2 + pair] = one - other;
                halves[pair] = other + ((one - other) >> 1);
            }
            (0..size).for_each(|place| values[line.place(place)] = halves[place]);
        }
        size /= 2;
    }
    values[0] -= MIDDLE;
    values
}

fn inverse(mut values: Vec<i32>) -> Vec<u8> {
    values[0] += MIDDLE;
    let mut size = 2;
    while size <= SIDE {
        for line in lines(size).rev() {
            let mut whole = [0; SIDE];
            for pair in 0..size / 2 {
                let (mean, difference) = (values[line.place(pair)], values[line.place(size / 2 + pair)]);
                let other = mean - (difference >> 1);
                whole[2 * pair] = other + difference;
                whole[2 * pair + 1] = other;
            }
            (0..size).for_each(|place| values[line.place(place)] = whole[place]);
        }
        size *= 2;
    }
    values
        .into_iter()
        .map(|value| value.clamp(0, 255) as u8)
        .collect()
}

/// A row or a column.
struct Line {
    start: usize,
    stride: usize,
}

impl Line {
    fn place(&self, number: usize) -> usize {
        self.start + number * self.stride
    }
}

/// Rows and then columns of a square.
fn lines(size: usize) -> impl DoubleEndedIterator<Item = Line> {
    let line = move |number: usize| match number.checked_sub(size) {
        None => Line {
            start: number * SIDE,
            stride: 1,
        },
        Some(column) => Line {
            start: column,
            stride: SIDE,
        },
    };
    (0..2 * size).map(line)
}

#[cfg(test)]
mod tests {
    use super::super::picture::{self, TILES};
    use super::*;

    fn error(tile: &[u8], limit: usize) -> f64 {
        let octets = compress(tile, limit);
        assert!(octets.len() <= limit, "{} of {limit}", octets.len());
        let pixels = decompress(&octets);
        let squares = tile
            .iter()
            .zip(&pixels)
            .map(|(one, other)| f64::from(one.abs_diff(*other)).powi(2));
        squares.sum::<f64>() / tile.len() as f64
    }

    #[test]
    fn every_place_has_its_turn_once() {
        let mut places: Vec<usize> = order().map(|(place, _)| place).collect();
        assert_eq!(&places[..4], [0, 1, SIDE, SIDE + 1]);
        places.sort_unstable();
        assert_eq!(places, (0..PIXELS).collect::<Vec<_>>());
    }

    #[test]
    fn the_transform_can_be_inverted() {
        let tile = picture::tile(&picture::all(), 9);
        assert_eq!(inverse(forward(&tile)), tile);
    }

    #[test]
    fn more_octets_have_more_detail() {
        let picture = picture::all();
        let errors = [256, 512, 1_024, 2_048, 2 * PIXELS].map(|limit| {
            let tiles = (0..TILES).map(|number| error(&picture::tile(&picture, number), limit));
            tiles.sum::<f64>() / f64::from(TILES)
        });
        assert!(errors.is_sorted_by(|few, many| few > many), "{errors:?}");
        assert!(errors[4] < 6.0, "{errors:?}");
    }

    #[test]
    fn any_octets_give_some_picture() {
        let mut random = punctual_types::SplitMix64::new(7);
        for length in 0..300 {
            let octets: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            assert_eq!(decompress(&octets).len(), PIXELS);
        }
    }
}
