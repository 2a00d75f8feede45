//! Operations that a computation has yet to examine.

/// Marks of operations by their places in the topological order. None is left after a computation.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    marks: Vec<bool>,
    number: usize,
    /// Places between which all marks are.
    first: usize,
    last: usize,
}

impl Pending {
    /// Creates marks for this number of operations.
    pub(super) fn new(places: usize) -> Self {
        Self {
            marks: vec![false; places],
            ..Self::default()
        }
    }

    /// Marks a place. Operations that are disabled or in cycles have none.
    pub(super) fn mark(&mut self, place: u32) {
        let place = place as usize;
        let Some(mark) = self.marks.get_mut(place).filter(|mark| !**mark) else {
            return;
        };
        *mark = true;
        let is_only = self.number == 0;
        self.number += 1;
        self.first = if is_only { place } else { self.first.min(place) };
        self.last = if is_only { place } else { self.last.max(place) };
    }

    /// Takes the first mark away and returns its place.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        if self.number == 0 {
            return None;
        }
        self.first += self.marks[self.first..].iter().position(|mark| *mark)?;
        self.take(self.first)
    }

    /// Takes the last mark away and returns its place.
    pub(super) fn take_last(&mut self) -> Option<usize> {
        if self.number == 0 {
            return None;
        }
        self.last = self.marks[..=self.last].iter().rposition(|mark| *mark)?;
        self.take(self.last)
    }

    fn take(&mut self, place: usize) -> Option<usize> {
        self.marks[place] = false;
        self.number -= 1;
        Some(place)
    }
}
