//! Real-time CORBA 1.2: distributable threads, scheduling segments, and the schedulers of an endsystem, over the ORB's portable
//! interceptors.
//!
//! A distributable thread is one locus of execution that moves from host to host with its calls. Source: RT-CORBA 1.2,
//! module RTScheduling; \[S4\].

pub mod storage;
