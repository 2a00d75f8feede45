//! Punctual: GIOP messages, fragments, references, service contexts and code sets.
