//! GIOP written and read by hand.

/// A version and a byte order: what a peer can choose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Dialect {
    /// The minor version of GIOP 1.
    pub minor: u8,
    /// Whether numbers stand with their least significant octet first.
    pub little: bool,
}

/// Every dialect there is.
pub const DIALECTS: [Dialect; 6] = [
    Dialect::new(0, true),
    Dialect::new(0, false),
    Dialect::new(1, true),
    Dialect::new(1, false),
    Dialect::new(2, true),
    Dialect::new(2, false),
];

/// GIOP 1.2, least significant octet first.
pub const COMMON: Dialect = Dialect::new(2, true);

impl Dialect {
    /// GIOP 1.`minor`.
    pub const fn new(minor: u8, little: bool) -> Self {
        Self { minor, little }
    }

    /// An empty encapsulation or body in this byte order.
    pub fn octets(self) -> Octets {
        Octets {
            little: self.little,
            octets: Vec::new(),
        }
    }

    /// Octets that start with their byte order, as data of service contexts and components.
    pub fn encapsulation(self, write: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
        write(self.octets().u8(self.little.into())).octets
    }

    /// The 12 octets before a message of `size` octets.
    pub fn header(self, message_type: u8, more_fragments: bool, size: u32) -> Octets {
        let flags = u8::from(self.little) | u8::from(more_fragments) << 1;
        self.octets()
            .raw(b"GIOP")
            .raw(&[1, self.minor, flags, message_type])
            .u32(size)
    }

    /// A message with everything behind the header written by `write`.
    pub fn message(self, message_type: u8, write: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
        write(self.header(message_type, false, 0)).sized()
    }

    /// A two-way request without service contexts.
    pub fn request(
        self,
        id: u32,
        key: &[u8],
        operation: &str,
        arguments: impl FnOnce(Octets) -> Octets,
    ) -> Vec<u8> {
        self.request_with(id, 3, key, operation, &[], arguments)
    }

    /// A request with these response flags and service contexts.
    pub fn request_with(
        self,
        id: u32,
        response: u8,
        key: &[u8],
        operation: &str,
        contexts: &[(u32, Vec<u8>)],
        arguments: impl FnOnce(Octets) -> Octets,
    ) -> Vec<u8> {
        self.message(REQUEST, |message| {
            if self.minor >= 2 {
                let header = message.u32(id).raw(&[response, 0, 0, 0]).u16(0).sequence(key);
                header
                    .string(operation.as_bytes())
                    .contexts(contexts)
                    .body(arguments)
            } else {
                let header = message.contexts(contexts).u32(id).u8(response & 1);
                let header = header.raw(&[0; 3]).sequence(key).string(operation.as_bytes());
                arguments(header.u32(0))
            }
        })
    }

    /// A LocateRequest.
    pub fn locate_request(self, id: u32, key: &[u8]) -> Vec<u8> {
        self.message(LOCATE_REQUEST, |message| {
            let header = message.u32(id);
            if self.minor >= 2 { header.u16(0) } else { header }.sequence(key)
        })
    }

    /// A reply.
    pub fn reply(self, id: u32, status: u32, body: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
        self.message(REPLY, |message| {
            if self.minor >= 2 {
                message.u32(id).u32(status).contexts(&[]).body(body)
            } else {
                body(message.contexts(&[]).u32(id).u32(status))
            }
        })
    }

    /// Cuts a message into a first one that says that fragments follow, and the fragments; `sizes` are those of all parts but
    /// the last, without headers.
    pub fn fragmented(self, message: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
        let message_type = message[7];
        let id = &message[HEADER..HEADER + 4];
        let mut rest = &message[HEADER..];
        let mut parts = Vec::new();
        for number in 0..=sizes.len() {
            let (part, left) = rest.split_at(sizes.get(number).copied().unwrap_or(rest.len()));
            rest = left;
            let more = number < sizes.len();
            // Fragments of GIOP 1.2 repeat the request id.
            let repeated: &[u8] = if number > 0 && self.minor >= 2 { id } else { &[] };
            let kind = if number == 0 { message_type } else { FRAGMENT };
            let header = self.header(kind, more, (repeated.len() + part.len()) as u32);
            parts.push(header.raw(repeated).raw(part).octets);
        }
        parts
    }
}

/// `GIOP::MsgType`.
pub const REQUEST: u8 = 0;
/// `GIOP::MsgType`.
pub const REPLY: u8 = 1;
/// `GIOP::MsgType`.
pub const CANCEL_REQUEST: u8 = 2;
/// `GIOP::MsgType`.
pub const LOCATE_REQUEST: u8 = 3;
/// `GIOP::MsgType`.
pub const LOCATE_REPLY: u8 = 4;
/// `GIOP::MsgType`.
pub const CLOSE_CONNECTION: u8 = 5;
/// `GIOP::MsgType`.
pub const MESSAGE_ERROR: u8 = 6;
/// `GIOP::MsgType`.
pub const FRAGMENT: u8 = 7;

/// The octets of a message header.
pub const HEADER: usize = 12;

/// Octets in the making; numbers are aligned to their size from the first octet on.
#[derive(Clone, Debug)]
pub struct Octets {
    little: bool,
    octets: Vec<u8>,
}

impl Octets {
    /// These octets as they are.
    pub fn raw(mut self, octets: &[u8]) -> Self {
        self.octets.extend_from_slice(octets);
        self
    }

    /// Zeros up to a multiple of `alignment`.
    pub fn align(mut self, alignment: usize) -> Self {
        self.octets
            .resize(self.octets.len().next_multiple_of(alignment), 0);
        self
    }

    /// An octet.
    pub fn u8(self, value: u8) -> Self {
        self.raw(&[value])
    }

    /// An unsigned short.
    pub fn u16(self, value: u16) -> Self {
        let octets = if self.little {
            value.to_le_bytes()
        } else {
            value.to_be_bytes()
        };
        self.align(2).raw(&octets)
    }

    /// An unsigned long.
    pub fn u32(self, value: u32) -> Self {
        let octets = if self.little {
            value.to_le_bytes()
        } else {
            value.to_be_bytes()
        };
        self.align(4).raw(&octets)
    }

    /// A long.
    pub fn i32(self, value: i32) -> Self {
        self.u32(value as u32)
    }

    /// A string of these octets, which are in whatever code set.
    pub fn string(self, text: &[u8]) -> Self {
        self.u32(text.len() as u32 + 1).raw(text).u8(0)
    }

    /// A sequence of octets.
    pub fn sequence(self, octets: &[u8]) -> Self {
        self.u32(octets.len() as u32).raw(octets)
    }

    /// A list of service contexts, components or profiles.
    pub fn contexts(self, contexts: &[(u32, Vec<u8>)]) -> Self {
        contexts
            .iter()
            .fold(self.u32(contexts.len() as u32), |octets, (id, data)| {
                octets.u32(*id).sequence(data)
            })
    }

    /// A body of GIOP 1.2: aligned to 8 unless empty.
    pub fn body(self, write: impl FnOnce(Octets) -> Octets) -> Self {
        let end = self.octets.len();
        let aligned = self.align(8);
        let start = aligned.octets.len();
        let mut written = write(aligned);
        if written.octets.len() == start {
            written.octets.truncate(end);
        }
        written
    }

    /// The message with its size in its header.
    pub fn sized(mut self) -> Vec<u8> {
        let size = (self.octets.len() - HEADER) as u32;
        let size = if self.little {
            size.to_le_bytes()
        } else {
            size.to_be_bytes()
        };
        self.octets[8..HEADER].copy_from_slice(&size);
        self.octets
    }

    /// What has been written.
    pub fn finish(self) -> Vec<u8> {
        self.octets
    }
}

/// A received message, in its own dialect.
#[derive(Clone, Debug)]
pub struct Message {
    /// Version and byte order.
    pub dialect: Dialect,
    /// `GIOP::MsgType`.
    pub message_type: u8,
    /// The message, its header included.
    pub octets: Vec<u8>,
}

impl Message {
    /// A reader behind the header.
    pub fn reader(&self) -> Reader<'_> {
        Reader {
            little: self.dialect.little,
            octets: &self.octets,
            at: HEADER,
        }
    }

    /// The message as a reply.
    pub fn reply(&self) -> Reply<'_> {
        assert_eq!(self.message_type, REPLY, "not a Reply: {:02x?}", self.octets);
        let mut reader = self.reader();
        let (id, status, contexts);
        if self.dialect.minor >= 2 {
            (id, status, contexts) = (reader.u32(), reader.u32(), reader.contexts());
            // An empty body has no padding.
            if reader.at < self.octets.len() {
                reader.align(8);
            }
        } else {
            (contexts, id, status) = (reader.contexts(), reader.u32(), reader.u32());
        }
        Reply {
            id,
            status,
            contexts,
            body: reader,
        }
    }

    /// The message as a request.
    pub fn request(&self) -> Request<'_> {
        assert_eq!(self.message_type, REQUEST, "not a Request: {:02x?}", self.octets);
        let mut reader = self.reader();
        if self.dialect.minor >= 2 {
            let id = reader.u32();
            let response = reader.u8();
            assert_eq!(reader.raw(3), [0; 3]);
            assert_eq!(reader.u16(), 0, "not addressed by key");
            let (key, operation, contexts) = (reader.sequence(), reader.string(), reader.contexts());
            if reader.at < self.octets.len() {
                reader.align(8);
            }
            return Request {
                id,
                response,
                key,
                operation,
                contexts,
                body: reader,
            };
        }
        let (contexts, id, response) = (reader.contexts(), reader.u32(), reader.u8());
        let (key, operation) = (reader.sequence(), reader.string());
        assert_eq!(reader.sequence(), b"", "the principal");
        Request {
            id,
            response,
            key,
            operation,
            contexts,
            body: reader,
        }
    }
}

/// A Reply message.
#[derive(Clone, Debug)]
pub struct Reply<'m> {
    /// The id of the request.
    pub id: u32,
    /// `GIOP::ReplyStatusType`.
    pub status: u32,
    /// The service contexts, in order.
    pub contexts: Vec<(u32, Vec<u8>)>,
    /// Stands at the body.
    pub body: Reader<'m>,
}

/// A Request message.
#[derive(Clone, Debug)]
pub struct Request<'m> {
    /// To be repeated in the reply.
    pub id: u32,
    /// The response flags, or before GIOP 1.2 whether a response is expected.
    pub response: u8,
    /// The object key.
    pub key: &'m [u8],
    /// The operation.
    pub operation: &'m [u8],
    /// The service contexts, in order.
    pub contexts: Vec<(u32, Vec<u8>)>,
    /// Stands at the arguments.
    pub body: Reader<'m>,
}

/// Reads what a correct peer wrote; panics at what no correct peer writes.
#[derive(Clone, Debug)]
pub struct Reader<'m> {
    little: bool,
    octets: &'m [u8],
    at: usize,
}

impl<'m> Reader<'m> {
    /// At the first octet of an encapsulation, which says its byte order.
    pub fn encapsulation(octets: &'m [u8]) -> Self {
        assert!(octets[0] <= 1, "no byte order: {octets:02x?}");
        Self {
            little: octets[0] == 1,
            octets,
            at: 1,
        }
    }

    /// Skips to a multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        self.at = self.at.next_multiple_of(alignment);
    }

    /// The next `count` octets.
    pub fn raw(&mut self, count: usize) -> &'m [u8] {
        let octets = &self.octets[self.at..self.at + count];
        self.at += count;
        octets
    }

    /// An octet.
    pub fn u8(&mut self) -> u8 {
        self.raw(1)[0]
    }

    /// An unsigned short.
    pub fn u16(&mut self) -> u16 {
        self.align(2);
        let octets = self.raw(2).try_into().expect("two octets");
        if self.little {
            u16::from_le_bytes(octets)
        } else {
            u16::from_be_bytes(octets)
        }
    }

    /// An unsigned long.
    pub fn u32(&mut self) -> u32 {
        self.align(4);
        let octets = self.raw(4).try_into().expect("four octets");
        if self.little {
            u32::from_le_bytes(octets)
        } else {
            u32::from_be_bytes(octets)
        }
    }

    /// A long.
    pub fn i32(&mut self) -> i32 {
        self.u32() as i32
    }

    /// The octets of a string, without the final NUL.
    pub fn string(&mut self) -> &'m [u8] {
        let length = self.u32() as usize;
        let (nul, text) = self.raw(length).split_last().expect("a NUL");
        assert_eq!(*nul, 0, "a string without a final NUL");
        text
    }

    /// A sequence of octets.
    pub fn sequence(&mut self) -> &'m [u8] {
        let length = self.u32() as usize;
        self.raw(length)
    }

    /// A list of service contexts, components or profiles.
    pub fn contexts(&mut self) -> Vec<(u32, Vec<u8>)> {
        (0..self.u32())
            .map(|_| (self.u32(), self.sequence().to_vec()))
            .collect()
    }

    /// What is left.
    pub fn rest(&self) -> &'m [u8] {
        &self.octets[self.at.min(self.octets.len())..]
    }
}
