//! Punctual: the IDL front end, from source text to a resolved specification.
