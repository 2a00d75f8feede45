//! The rules of the object adapter, CORBA 3.3 part 1, clause 15, each as a test: over the wire and
//! collocated.

mod adapter_activators;
mod destruction;
mod endings;
mod managers;
mod nested_managers;
mod servant_managers;
mod shared_servants;
mod single_thread;
