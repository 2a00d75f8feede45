//! Legend: the names of the layers, in rows above the plot.

use super::layout::{LEFT, TEXT_SIZE};

pub(super) struct Legend<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) height: i32,
}

pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    /// Left end of its line sample.
    pub(super) x: i32,
    /// Middle of its row.
    pub(super) y: i32,
}

/// Length of a line sample.
pub(super) const SAMPLE: i32 = 84;
const ROW: i32 = 46;
const GAP: i32 = 44;

/// Arranges the names in rows, by an estimate of the width of their text.
pub(super) fn arranged<'a>(names: &[&'a str], width: i32) -> Legend<'a> {
    let mut entries = Vec::new();
    let (mut x, mut row) = (LEFT, 0);
    for name in names {
        let needed = SAMPLE + 14 + text_width(name);
        if x > LEFT && x + needed > width {
            (x, row) = (LEFT, row + 1);
        }
        entries.push(Entry {
            name,
            x,
            y: row * ROW + ROW / 2,
        });
        x += needed + GAP;
    }
    Legend {
        entries,
        height: (row + 1) * ROW + 12,
    }
}

/// Estimates the width of a text: in common fonts a character takes about 0.56 of the font size.
fn text_width(text: &str) -> i32 {
    const CHARACTER: f64 = TEXT_SIZE / 1.24 * 0.56;
    (text.chars().count() as f64 * CHARACTER) as i32
}

#[cfg(test)]
mod tests {
    use super::super::layout::WIDTH;
    use super::*;

    #[test]
    fn excess_names_go_to_the_next_row() {
        let name = "a name of a curve of usual length";
        let legend = arranged(&[name; 5], WIDTH);
        let ends = |entry: &Entry| entry.x + SAMPLE + 14 + text_width(entry.name);
        assert!(legend.entries.iter().all(|entry| ends(entry) <= WIDTH));
        for pair in legend.entries.windows(2) {
            assert!(pair[1].y > pair[0].y || pair[1].x >= ends(&pair[0]) + GAP);
        }
        assert!(legend.entries.iter().all(|entry| entry.y < legend.height));
        assert!(legend.height > ROW + 12);
    }
}
