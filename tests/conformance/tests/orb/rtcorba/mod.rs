//! Real-time CORBA 1.0: the matrix of priority policies, their rules, and the tests that TAO has for them by
//! name.

mod accepted_priorities;
mod activate_object_multiple_orbs;
mod client_propagated;
mod client_protocol;
mod collocation;
mod destroy_adapter;
mod diffserv;
mod invalid_policies;
mod linear_priority;
mod malformed;
mod matrix;
mod mt_client_protocol_priority;
mod orb_init;
mod persistent_ior;
mod policies;
mod policy_combinations;
mod priority_transforms;
mod server_declared;
mod server_protocol;
