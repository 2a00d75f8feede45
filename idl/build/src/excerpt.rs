//! The text of a file with its long lines cut around the places of a diagnostic.

use std::ops::Range;

/// Bytes of a line that is shown whole.
const LINE: usize = 200;

/// Bytes that are shown on both sides of a place in a longer line.
const AROUND: usize = 60;

const CUT: &str = "…";

/// A text in which [`CUT`] replaces ranges of long lines.
pub struct Excerpt {
    pub text: String,
    /// Replaced ranges of the original text, in order; each is longer than [`CUT`].
    cuts: Vec<Range<usize>>,
}

impl Excerpt {
    /// Cuts the lines of `original`, but not near these places in it.
    pub fn new(original: &str, places: &[usize]) -> Self {
        let mut excerpt = Self {
            text: String::with_capacity(original.len().min(1 << 16)),
            cuts: Vec::new(),
        };
        let mut start = 0;
        for line in original.split_inclusive('\n') {
            let end = start + line.len();
            if line.len() <= LINE {
                excerpt.text.push_str(line);
            } else {
                excerpt.long_line(original, start..end, places);
            }
            start = end;
        }
        excerpt
    }

    fn long_line(&mut self, original: &str, line: Range<usize>, places: &[usize]) {
        let near = |place: &usize| place.saturating_sub(AROUND)..place + AROUND;
        let mut shown: Vec<Range<usize>> = places
            .iter()
            .filter(|place| line.contains(place) || **place == original.len())
            .map(near)
            .collect();
        if shown.is_empty() {
            shown.push(line.start..line.start + LINE);
        }
        // The end of the line stays.
        shown.push(line.end - 1..line.end);
        shown.sort_by_key(|range| range.start);
        let mut at = line.start;
        for range in shown {
            let from = floor(original, range.start.clamp(at, line.end));
            let to = floor(original, range.end.clamp(from.max(at), line.end));
            if from > at + CUT.len() {
                self.text.push_str(CUT);
                self.cuts.push(at..from);
                at = from;
            }
            self.text.push_str(&original[at..to.max(at)]);
            at = to.max(at);
        }
    }

    /// Returns where a place of the original text is in this one.
    pub fn shown(&self, place: usize) -> usize {
        let before = self.cuts.iter().filter(|cut| cut.end <= place);
        place - before.map(|cut| cut.len() - CUT.len()).sum::<usize>()
    }

    /// Returns where a place of this text is in the original one.
    pub fn original(&self, shown: usize) -> usize {
        self.cuts.iter().fold(shown, |place, cut| {
            let is_behind = cut.start + CUT.len() <= place;
            place + if is_behind { cut.len() - CUT.len() } else { 0 }
        })
    }
}

/// Returns the last boundary of characters that is not behind `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_around_the_places_and_nowhere_else() {
        let long = "ä".repeat(4_000);
        let original = format!("short\n{long}HERE{long}THERE\n{long}\nend");
        let places = ["HERE", "THERE", "end"].map(|word| original.rfind(word).unwrap());
        let first = original.find("HERE").unwrap();
        let excerpt = Excerpt::new(&original, &[first, places[1], places[2]]);
        let lines: Vec<&str> = excerpt.text.lines().collect();
        let [near, far] = [30, 100].map(|count| "ä".repeat(count));
        assert_eq!(lines[0], "short");
        assert_eq!(lines[1], format!("…{near}HERE{}…{near}THERE", "ä".repeat(28)));
        assert_eq!(lines[2], format!("{far}…"));
        assert_eq!(lines[3], "end");
        for (place, word) in [(first, "HERE"), (places[1], "THERE"), (places[2], "end")] {
            let shown = excerpt.shown(place);
            assert!(excerpt.text[shown..].starts_with(word));
            assert_eq!(excerpt.original(shown), place);
        }
    }
}
