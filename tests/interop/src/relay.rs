//! A relay between clients and a server that counts messages, or records each in a capture that `tshark`
//! reads.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use punctual::{ior_from_string, ior_to_string};
use punctual_giop::IiopProfile;

/// A running relay. Its threads end with their connections, and the accepting one with the process.
pub struct Relay {
    /// Where clients connect.
    pub port: u16,
    record: Arc<Mutex<Record>>,
}

/// Knowledge of a relay about the messages that it has passed on.
#[derive(Default)]
struct Record {
    traffic: Traffic,
    /// `None`: they are counted only.
    capture: Option<Capture>,
}

/// Numbers of messages, by direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Messages of the clients, those that have connected.
    pub to_server: Messages,
    /// Messages of the server.
    pub to_clients: Messages,
}

/// Numbers of messages in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Messages {
    /// Requests, whole ones or their beginnings.
    pub requests: usize,
    /// Fragments behind the beginnings of messages.
    pub fragments: usize,
}

/// A capture file in memory: one TCP segment for each message, more for long ones. What `tshark` is known to
/// misread is in the form that it expects.
#[derive(Clone, Default)]
pub struct Capture {
    /// Number of messages.
    pub messages: usize,
    packets: Vec<u8>,
}

/// A direction of a connection.
struct Flow {
    from: Side,
    to: Side,
    sent: u32,
}

#[derive(Clone, Copy)]
struct Side {
    host: u8,
    port: u16,
}

const GIOP_HEADER: usize = 12;
/// Types of messages. Source: CORBA 3.3 part 2, 9.4.1.
const REQUEST: u8 = 0;
const LOCATE_REPLY: u8 = 4;
const FRAGMENT: u8 = 7;
/// Flags of messages: the byte order, and that a fragment follows.
const LITTLE_ENDIAN: u8 = 1;
const MORE_FRAGMENTS: u8 = 2;
/// Size that fits into an IP packet, roughly.
const SEGMENT: usize = 60_000;
const SERVER: Side = Side { host: 2, port: 2809 };

impl Relay {
    /// Starts a relay that counts, to the server of this reference; returns the reference that leads to the
    /// relay, too.
    ///
    /// # Panics
    /// If it is no `IOR:` whose first profile is of IIOP.
    pub fn to(reference: &str) -> (Self, String) {
        let mut ior = ior_from_string(reference).expect("a reference");
        let mut profile = IiopProfile::decode(&ior.profiles[0]).expect("a profile of IIOP");
        let relay = Self::start(profile.port, Record::default());
        profile.port = relay.port;
        ior.profiles[0] = profile.encode().expect("a profile that was decoded");
        (relay, ior_to_string(&ior))
    }

    /// Starts a relay that records all messages, to the server at this port.
    pub fn recording(port: u16) -> Self {
        let record = Record {
            capture: Some(Capture::default()),
            ..Record::default()
        };
        Self::start(port, record)
    }

    /// Starts it on a free port of the loopback interface.
    fn start(server: u16, record: Record) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server));
        let record = Arc::new(Mutex::new(record));
        let relay = Self {
            port,
            record: Arc::clone(&record),
        };
        thread::spawn(move || {
            for (number, client) in (1..).zip(listener.incoming().map_while(Result::ok)) {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                let side = Side {
                    host: 1,
                    port: 40_000 + number,
                };
                pass(&client, &server, side, SERVER, &record);
                pass(&server, &client, SERVER, side, &record);
            }
        });
        relay
    }

    /// Messages that have passed until now; nothing unless it records.
    pub fn capture(&self) -> Capture {
        let record = self.record.lock().expect("no thread panics");
        record.capture.clone().unwrap_or_default()
    }

    /// How much has passed until now.
    pub fn traffic(&self) -> Traffic {
        self.record.lock().expect("no thread panics").traffic
    }
}

impl Record {
    fn add(&mut self, flow: &mut Flow, message: &[u8]) {
        let messages = match flow.from.port {
            port if port == SERVER.port => &mut self.traffic.to_clients,
            _ => &mut self.traffic.to_server,
        };
        match message[7] {
            REQUEST => messages.requests += 1,
            FRAGMENT => messages.fragments += 1,
            _ => {}
        }
        if let Some(capture) = &mut self.capture {
            capture.add(flow, message);
        }
    }
}

/// Passes messages in one direction on until either connection ends.
fn pass(source: &TcpStream, sink: &TcpStream, from: Side, to: Side, record: &Arc<Mutex<Record>>) {
    let clone = |stream: &TcpStream| stream.try_clone().expect("a second handle of a socket");
    let (mut source, mut sink, record) = (clone(source), clone(sink), Arc::clone(record));
    let mut flow = Flow { from, to, sent: 1 };
    thread::spawn(move || {
        while let Ok(message) = read_message(&mut source) {
            record.lock().expect("no thread panics").add(&mut flow, &message);
            if sink.write_all(&message).is_err() {
                break;
            }
        }
        let _ = sink.shutdown(std::net::Shutdown::Both);
    });
}

fn read_message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = vec![0; GIOP_HEADER];
    stream.read_exact(&mut message)?;
    let size: [u8; 4] = message[8..].try_into().expect("four octets");
    let size = match message[6] & LITTLE_ENDIAN {
        0 => u32::from_be_bytes(size),
        _ => u32::from_le_bytes(size),
    };
    message.resize(GIOP_HEADER + size as usize, 0);
    stream.read_exact(&mut message[GIOP_HEADER..])?;
    Ok(message)
}

/// `tshark` expects the body of a LocateReply of GIOP 1.2 at a multiple of eight octets, but it follows the
/// header of this message immediately (CORBA 3.3 part 2, 9.4.6.2): here four octets are between them. No
/// other message is misread.
fn as_tshark_expects(message: &[u8]) -> Cow<'_, [u8]> {
    const HEADER: usize = GIOP_HEADER + 8;
    let is_locate_reply = message[4..6] == [1, 2] && message[7] == LOCATE_REPLY;
    if !is_locate_reply || message.len() <= HEADER || message[6] & MORE_FRAGMENTS != 0 {
        return message.into();
    }
    let size = (message.len() - GIOP_HEADER + 4) as u32;
    let size = match message[6] & LITTLE_ENDIAN {
        0 => size.to_be_bytes(),
        _ => size.to_le_bytes(),
    };
    let (header, body) = message.split_at(HEADER);
    let mut message = [header, &[0; 4], body].concat();
    message[8..GIOP_HEADER].copy_from_slice(&size);
    message.into()
}

impl Capture {
    /// A capture of one message of a client.
    pub fn of(message: &[u8]) -> Self {
        let mut capture = Self::default();
        let from = Side {
            host: 1,
            port: 40_000,
        };
        capture.add(
            &mut Flow {
                from,
                to: SERVER,
                sent: 1,
            },
            message,
        );
        capture
    }

    fn add(&mut self, flow: &mut Flow, message: &[u8]) {
        self.messages += 1;
        let message = &as_tshark_expects(message);
        for segment in message.chunks(SEGMENT) {
            let packet = flow.packet(segment);
            let length = packet.len() as u32;
            for field in [self.messages as u32, 0, length, length] {
                self.packets.extend(field.to_le_bytes());
            }
            self.packets.extend(packet);
        }
    }

    /// The octets of the file. Source: the format of libpcap 2.4, with the link type of raw IP.
    pub fn file(&self) -> Vec<u8> {
        const RAW_IP: u32 = 101;
        let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
        file.extend([2, 0, 4, 0]);
        for field in [0, 0, u32::from(u16::MAX), RAW_IP] {
            file.extend(field.to_le_bytes());
        }
        file.extend(&self.packets);
        file
    }
}

impl Flow {
    /// The segment in TCP in IPv4, both without options and checksums.
    fn packet(&mut self, segment: &[u8]) -> Vec<u8> {
        let length = (40 + segment.len()) as u16;
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend([10, 0, 0, self.from.host, 10, 0, 0, self.to.host]);
        packet.extend(self.from.port.to_be_bytes());
        packet.extend(self.to.port.to_be_bytes());
        packet.extend(self.sent.to_be_bytes());
        // Acknowledgement, offset of the data, flags, window, checksum, urgent pointer.
        packet.extend([0, 0, 0, 1, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(segment);
        self.sent = self.sent.wrapping_add(segment.len() as u32);
        packet
    }
}
