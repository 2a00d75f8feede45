//! Punctual: runs measurements and judges what they show.
