//! A Real-time CORBA ORB.
