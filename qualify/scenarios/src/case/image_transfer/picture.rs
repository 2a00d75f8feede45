//! The transferred picture: a landscape with fields, a river and a runway, from formulas.

use punctual_types::SplitMix64;

use super::codec::SIDE;

/// Tiles of a row, and rows of tiles.
const ACROSS: usize = 8;
/// Tiles of the picture.
pub(super) const TILES: u32 = (ACROSS * ACROSS) as u32;
/// Pixels of a side.
pub(super) const WIDTH: usize = ACROSS * SIDE;

/// Returns all pixels, in rows.
pub(super) fn all() -> Vec<u8> {
    let mut random = SplitMix64::new(16);
    let places = (0..WIDTH).flat_map(|y| (0..WIDTH).map(move |x| (x as f64, y as f64)));
    let pixel = |(x, y): (f64, f64)| {
        let hills = 45.0 * (x / 61.0).sin() * (y / 83.0).cos() + 20.0 * ((x + 2.0 * y) / 29.0).sin();
        let fields = if ((x / 97.0).floor() + (y / 71.0).floor()) % 2.0 == 0.0 {
            18.0
        } else {
            0.0
        };
        let river = (y - 260.0 - 60.0 * (x / 90.0).sin()).abs() < 9.0;
        let along = (x - 120.0 + (y - 380.0) * 0.5).abs();
        let runway = along < 10.0 && (300.0..460.0).contains(&y);
        let marking = along < 1.5 && (y / 8.0).floor() % 2.0 == 0.0;
        let value = match (runway, river) {
            (true, _) if marking => 250.0,
            (true, _) => 70.0,
            (_, true) => 30.0,
            _ => 120.0 + hills + fields,
        };
        (value + (random.next() % 9) as f64 - 4.0).clamp(0.0, 255.0) as u8
    };
    places.map(pixel).collect()
}

/// Returns the pixels of a tile.
pub(super) fn tile(picture: &[u8], number: u32) -> Vec<u8> {
    rows(number)
        .flat_map(|start| &picture[start..start + SIDE])
        .copied()
        .collect()
}

/// Puts a tile into its place.
pub(super) fn put(picture: &mut [u8], number: u32, tile: &[u8]) {
    for (start, row) in rows(number).zip(tile.chunks(SIDE)) {
        picture[start..start + row.len()].copy_from_slice(row);
    }
}

/// Returns where the rows of a tile begin.
fn rows(number: u32) -> impl Iterator<Item = usize> {
    let number = number as usize % (ACROSS * ACROSS);
    let first = number / ACROSS * SIDE * WIDTH + number % ACROSS * SIDE;
    (0..SIDE).map(move |row| first + row * WIDTH)
}

/// Pixels of a side of a picture in a report.
pub(super) const REPORTED_WIDTH: usize = WIDTH / 2;

/// Returns the picture in half its size: each pixel is the mean of four.
pub(super) fn halved(picture: &[u8]) -> Vec<u8> {
    let places = (0..WIDTH)
        .step_by(2)
        .flat_map(|y| (0..WIDTH).step_by(2).map(move |x| y * WIDTH + x));
    let mean = |place: usize| {
        let four = [place, place + 1, place + WIDTH, place + WIDTH + 1];
        (four.map(|place| u32::from(picture[place])).iter().sum::<u32>() / 4) as u8
    };
    places.map(mean).collect()
}

/// Returns the ratio of signal to noise of a picture, in decibels.
pub(super) fn quality(original: &[u8], shown: &[u8]) -> f64 {
    let squares = original
        .iter()
        .zip(shown)
        .map(|(one, other)| f64::from(one.abs_diff(*other)).powi(2));
    let mean = squares.sum::<f64>() / original.len() as f64;
    10.0 * (255.0f64.powi(2) / mean.max(1e-3)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_make_up_the_picture() {
        let picture = all();
        let mut copy = vec![0; WIDTH * WIDTH];
        for number in 0..TILES {
            assert!(quality(&picture, &copy) < 50.0);
            put(&mut copy, number, &tile(&picture, number));
        }
        assert!(copy == picture && quality(&picture, &copy) > 70.0);
    }
}
