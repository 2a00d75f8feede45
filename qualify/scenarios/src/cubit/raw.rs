//! The operating system's own cost: a ping-pong of given message sizes, with `write` and `read` only, or with
//! shared memory and futexes.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
};

use punctual_os::{Scheduling, ThreadSpec, shm::Exchange};
use serde::{Deserialize, Serialize};

use super::transport::Transport;

/// Message sizes in octets; a oneway call has no reply.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(crate) struct Sizes {
    pub(crate) request: u32,
    pub(crate) reply: u32,
}

/// The address of a ping-pong server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RawAddress {
    transport: Transport,
    /// The port, for TCP.
    port: u16,
    /// The abstract name of a Unix socket, for other transports.
    name: String,
}

/// Serves ping-pongs over this transport and over TCP. Each connection has a thread with the given
/// scheduling.
pub(super) fn serve(transport: Transport, scheduling: Scheduling) -> io::Result<Vec<RawAddress>> {
    let mut addresses = vec![serve_tcp(scheduling)?];
    if transport != Transport::Tcp {
        addresses.push(serve_unix(transport, scheduling)?);
    }
    Ok(addresses)
}

/// Serves ping-pongs over TCP, as [`serve`] does.
pub(crate) fn serve_tcp(scheduling: Scheduling) -> io::Result<RawAddress> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    accept_in_thread(scheduling, move || {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(Box::new(|| echo(stream)))
    })?;
    Ok(RawAddress {
        transport: Transport::Tcp,
        port,
        name: String::new(),
    })
}

fn serve_unix(transport: Transport, scheduling: Scheduling) -> io::Result<RawAddress> {
    let name = format!("punctual-cubit-raw-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    accept_in_thread(scheduling, move || {
        let (stream, _) = listener.accept()?;
        Ok(match transport {
            Transport::Shm => Box::new(|| exchange(stream)),
            _ => Box::new(|| echo(stream)),
        })
    })?;
    Ok(RawAddress {
        transport,
        port: 0,
        name,
    })
}

type Serve = Box<dyn FnOnce() -> io::Result<()> + Send>;

fn accept_in_thread(
    scheduling: Scheduling,
    accept: impl Fn() -> io::Result<Serve> + Send + 'static,
) -> io::Result<()> {
    // Only accepts connections, in the default class.
    ThreadSpec::new("raw-accept").spawn(move || {
        while let Ok(serve) = accept() {
            let spec = ThreadSpec::new("raw")
                .scheduling(scheduling)
                .prefault_bytes(ThreadSpec::USUAL_PREFAULT_BYTES);
            // If the thread cannot be started, the connection ends.
            let _ = spec.spawn(serve);
        }
    })?;
    Ok(())
}

fn buffers(stream: &mut impl Read) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut sizes = [0; 8];
    stream.read_exact(&mut sizes)?;
    let [request, reply] =
        [&sizes[..4], &sizes[4..]].map(|size| u32::from_ne_bytes(size.try_into().expect("four octets")));
    Ok((vec![0; request as usize], vec![0; reply as usize]))
}

fn echo(mut stream: impl Read + Write) -> io::Result<()> {
    let (mut request, reply) = buffers(&mut stream)?;
    loop {
        // Ends with the connection.
        stream.read_exact(&mut request)?;
        if !reply.is_empty() {
            stream.write_all(&reply)?;
        }
    }
}

/// Serves exchanges through shared memory; the socket only transfers its file descriptor.
fn exchange(mut stream: UnixStream) -> io::Result<()> {
    let (mut request, reply) = buffers(&mut stream)?;
    let (server, memory) = Exchange::create()?;
    stream.write_all(&std::process::id().to_ne_bytes())?;
    stream.write_all(&memory.as_raw_fd().to_ne_bytes())?;
    // Wait until the client has opened it.
    stream.read_exact(&mut [0])?;
    while server.serve(&mut request, &reply) {}
    Ok(())
}

/// The client side of a ping-pong.
pub(crate) struct RawClient {
    channel: Channel,
    request: Vec<u8>,
    reply: Vec<u8>,
}

enum Channel {
    Tcp(TcpStream),
    Unix(UnixStream),
    Shm(Exchange),
}

impl RawClient {
    pub(crate) fn connect(transport: Transport, addresses: &[RawAddress], sizes: Sizes) -> io::Result<Self> {
        let address = addresses.iter().find(|address| address.transport == transport);
        let address = address.ok_or(io::ErrorKind::NotFound)?;
        let unix = || UnixStream::connect_addr(&SocketAddr::from_abstract_name(&address.name)?);
        let channel = match transport {
            Transport::Tcp => {
                let mut stream = TcpStream::connect(("127.0.0.1", address.port))?;
                stream.set_nodelay(true)?;
                sizes.send(&mut stream)?;
                Channel::Tcp(stream)
            }
            Transport::Unix => {
                let mut stream = unix()?;
                sizes.send(&mut stream)?;
                Channel::Unix(stream)
            }
            Transport::Shm => {
                let mut stream = unix()?;
                sizes.send(&mut stream)?;
                let [mut process, mut descriptor] = [[0; 4]; 2];
                stream.read_exact(&mut process)?;
                stream.read_exact(&mut descriptor)?;
                let [process, descriptor] = [process, descriptor].map(u32::from_ne_bytes);
                let memory = File::options()
                    .read(true)
                    .write(true)
                    .open(format!("/proc/{process}/fd/{descriptor}"))?;
                let exchange = Exchange::open(&memory)?;
                stream.write_all(&[0])?;
                Channel::Shm(exchange)
            }
        };
        Ok(Self {
            channel,
            request: vec![0; sizes.request as usize],
            reply: vec![0; sizes.reply as usize],
        })
    }

    /// Makes one exchange: one `write`, and one `read` if the reply arrives in one piece.
    pub(crate) fn exchange(&mut self) -> io::Result<()> {
        let Self {
            channel,
            request,
            reply,
        } = self;
        match channel {
            Channel::Tcp(stream) => write_and_read(stream, request, reply),
            Channel::Unix(stream) => write_and_read(stream, request, reply),
            Channel::Shm(exchange) => {
                exchange.call(request, reply);
                Ok(())
            }
        }
    }
}

fn write_and_read(stream: &mut (impl Read + Write), request: &[u8], reply: &mut [u8]) -> io::Result<()> {
    stream.write_all(request)?;
    if reply.is_empty() {
        Ok(())
    } else {
        stream.read_exact(reply)
    }
}

impl Sizes {
    fn send(self, stream: &mut impl Write) -> io::Result<()> {
        stream.write_all(&self.request.to_ne_bytes())?;
        stream.write_all(&self.reply.to_ne_bytes())
    }
}
