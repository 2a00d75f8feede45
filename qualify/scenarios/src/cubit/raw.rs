//! The operating system's own cost: a blocking TCP ping-pong of given numbers of octets, with nothing but `write` and `read`.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
};

use punctual_os::{Scheduling, ThreadSpec};
use serde::{Deserialize, Serialize};

/// How many octets go out and come back; no octets back: a oneway call.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(super) struct Sizes {
    pub(super) request: u32,
    pub(super) reply: u32,
}

/// Serves ping-pong on a free port, one thread for each connection, each as the lane's thread is scheduled.
pub(super) fn serve(scheduling: Scheduling) -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    // It only accepts, and blocks in between.
    ThreadSpec::new("raw-accept").spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let spec = ThreadSpec::new("raw").scheduling(scheduling).prefault(true);
            // Without the thread the client sees its connection end.
            let _ = spec.spawn(move || echo(stream));
        }
    })?;
    Ok(port)
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut sizes = [0; 8];
    stream.read_exact(&mut sizes)?;
    let [request, reply] =
        [&sizes[..4], &sizes[4..]].map(|size| u32::from_ne_bytes(size.try_into().expect("four octets")));
    let (mut request, reply) = (vec![0; request as usize], vec![0; reply as usize]);
    loop {
        // Ends with the connection.
        stream.read_exact(&mut request)?;
        if !reply.is_empty() {
            stream.write_all(&reply)?;
        }
    }
}

/// The client's end.
pub(super) struct RawClient {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl RawClient {
    pub(super) fn connect(port: u16, sizes: Sizes) -> io::Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.write_all(&sizes.request.to_ne_bytes())?;
        stream.write_all(&sizes.reply.to_ne_bytes())?;
        Ok(Self {
            stream,
            request: vec![0; sizes.request as usize],
            reply: vec![0; sizes.reply as usize],
        })
    }

    /// One exchange: one `write`, and one `read` if the reply comes in one piece.
    pub(super) fn exchange(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.request)?;
        if self.reply.is_empty() {
            Ok(())
        } else {
            self.stream.read_exact(&mut self.reply)
        }
    }
}
