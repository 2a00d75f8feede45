/// How to set up the connections of a protocol: `RTCORBA::TCPProtocolProperties` and those of TAO for other transports.
///
/// Each transport takes those that it knows.
///
/// ```
/// use punctual_transport::ProtocolProperties;
///
/// let mut properties = ProtocolProperties::default();
/// properties.send_buffer_size = Some(1 << 16);
/// assert!(properties.no_delay && properties.keep_alive);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct ProtocolProperties {
    /// Octets that wait to be sent, at least; Linux takes twice as many, for its own bookkeeping. Default: the system's.
    pub send_buffer_size: Option<u32>,
    /// Octets that wait to be read. Default: the system's.
    pub recv_buffer_size: Option<u32>,
    /// TCP: finds out that a peer is gone by asking it now and then. Default: yes.
    pub keep_alive: bool,
    /// TCP: only to hosts of the same network, past all gateways. Default: no.
    pub dont_route: bool,
    /// TCP: small messages go at once (Nagle's algorithm off). Default: yes.
    pub no_delay: bool,
    /// TCP: packets carry a network priority made from the CORBA priority. Default: no.
    pub enable_network_priority: bool,
}

impl ProtocolProperties {
    /// What [`Default`] says, for constants.
    pub const DEFAULT: Self = Self {
        send_buffer_size: None,
        recv_buffer_size: None,
        keep_alive: true,
        dont_route: false,
        no_delay: true,
        enable_network_priority: false,
    };
}

impl Default for ProtocolProperties {
    fn default() -> Self {
        Self::DEFAULT
    }
}
