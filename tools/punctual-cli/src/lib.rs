//! Punctual: the command line tool.
