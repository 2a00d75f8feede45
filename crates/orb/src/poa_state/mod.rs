//! State of object adapters: their objects, servants, policies, managers and ends. [`crate::poa`] has the
//! operations that users call.

pub(crate) mod adapter_index;
pub(crate) mod adapter_path;
pub(crate) mod adapter_policies;
pub(crate) mod any_servant;
pub(crate) mod core;
pub(crate) mod default_servant;
pub(crate) mod defaults;
pub(crate) mod etherealization;
pub(crate) mod incarnation;
pub(crate) mod invalid_policy;
pub(crate) mod manager;
pub(crate) mod object_ids;
pub(crate) mod object_search;
pub(crate) mod object_transform;
pub(crate) mod objects;
pub(crate) mod partitioned_map;
pub(crate) mod pending_etherealizations;
pub(crate) mod profiles;
pub(crate) mod published;
pub(crate) mod quiescence;
pub(crate) mod request_processing;
pub(crate) mod servant_manager_turn;
pub(crate) mod servant_manager_turn_guard;
pub(crate) mod served_id;
