//! Connections of a lane: their states, their table, and the messages read from and written to them.

pub(crate) mod connection;
pub(crate) mod data;
pub(crate) mod housekeeping;
pub(crate) mod id;
pub(crate) mod role;
pub(crate) mod slots;
pub(crate) mod state;
pub(crate) mod table;
