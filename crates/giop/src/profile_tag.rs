//! Tags of profiles. Source: CORBA 3.3 part 2, 7.6.3 and 7.6.4; TAO.

/// GIOP over TCP.
pub const TAG_INTERNET_IOP: u32 = 0;
/// Components without an address.
pub const TAG_MULTIPLE_COMPONENTS: u32 = 1;
/// TAO: GIOP over Unix domain sockets.
pub const TAG_UIOP: u32 = 0x5441_4f00;
/// TAO: GIOP over shared memory.
pub const TAG_SHMIOP: u32 = 0x5441_4f02;
/// Punctual: GIOP over shared memory, incompatible with TAO's, which has another tag. The
/// address is a string: the path of a Unix domain socket.
pub const TAG_PUNCTUAL_SHM: u32 = 0x5055_4e02;
/// Punctual: GIOP over TLS, as a protocol of policies. No profile has it: references state it with a
/// component of IIOP profiles, [`TAG_SSL_SEC_TRANS`](crate::TAG_SSL_SEC_TRANS).
pub const TAG_PUNCTUAL_TLS: u32 = 0x5055_4e03;
/// TAO: GIOP over UDP.
pub const TAG_DIOP: u32 = 0x5441_4f04;
/// TAO: GIOP over SCTP.
pub(crate) const TAG_SCIOP: u32 = 0x5441_4f0e;
