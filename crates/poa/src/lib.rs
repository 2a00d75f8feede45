//! Punctual: object keys, the object table and the POA tree.
