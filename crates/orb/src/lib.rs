//! Punctual: the runtime, client and server.
