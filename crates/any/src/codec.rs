//! Values in encapsulations of their own, outside messages: `IOP::Codec`.
//!
//! Source: CORBA 3.3 part 1, 21.7 "Coder/Decoder Interfaces", and part 2, 9.3.3 "Encapsulation".

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CharSet, Decode, Decoder, Encode, Encoder, Endian, decode_encapsulation};

use crate::{Any, AnyError, TypeCode};

/// Converts an `any` to octets and back, for service contexts, tagged components and files: `IOP::Codec` for
/// `ENCODING_CDR_ENCAPS`.
///
/// Text is in the codec's code set, by default ISO-8859-1; wide text has the form of GIOP 1.2. Octets are in
/// the byte order of this machine; both byte orders are read.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Any, Codec};
///
/// let (codec, depth) = (Codec::default(), Any::new(&300_i32)?);
/// assert_eq!(codec.decode(&codec.encode(&depth)?)?, depth);
///
/// let without_type = codec.encode_value(&depth)?;
/// assert_eq!(without_type.len(), 8, "byte order, padding, number");
/// let decoded = codec.decode_value(&without_type, depth.type_code())?;
/// assert_eq!(decoded.get::<i32>()?, 300);
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Codec {
    char_set: CharSet,
}

impl Codec {
    /// Creates a codec whose text is in another code set: `create_codec_with_codesets`.
    pub fn with_char_set(char_set: CharSet) -> Self {
        Self { char_set }
    }

    /// Encodes the value with its type.
    ///
    /// # Errors
    /// Text is outside the code set, or a value of a value type cannot be converted.
    pub fn encode(&self, any: &Any) -> Result<Vec<u8>, AnyError> {
        self.encapsulate(|encoder| any.encode(encoder))
    }

    /// Decodes what [`Self::encode`] or that of another ORB has encoded.
    ///
    /// # Errors
    /// The octets are malformed, too complex, or more than the value.
    pub fn decode(&self, octets: &[u8]) -> Result<Any, AnyError> {
        let mut decoder = self.open(octets)?;
        let any = Any::decode(&mut decoder)?;
        ended(&decoder, any)
    }

    /// Encodes the value without its type.
    ///
    /// # Errors
    /// As of [`Self::encode`].
    pub fn encode_value(&self, any: &Any) -> Result<Vec<u8>, AnyError> {
        self.encapsulate(|encoder| any.view().encode_value(encoder))
    }

    /// Decodes what [`Self::encode_value`] or that of another ORB has encoded.
    ///
    /// # Errors
    /// The octets are not exactly one value of this type.
    pub fn decode_value(&self, octets: &[u8], of: &TypeCode) -> Result<Any, AnyError> {
        let mut decoder = self.open(octets)?;
        let any = Any::decode_value(of, &mut decoder)?;
        ended(&decoder, any)
    }

    fn encapsulate(
        &self,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Vec<u8>, AnyError> {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::NATIVE).with_char_set(self.char_set);
        Endian::NATIVE.flag().encode(&mut encoder)?;
        write(&mut encoder)?;
        Ok(octets)
    }

    fn open<'a>(&self, octets: &'a [u8]) -> Result<Decoder<'a>, CdrError> {
        let outer = Decoder::new(octets, Endian::NATIVE).with_char_set(self.char_set);
        decode_encapsulation(&outer, octets)
    }
}

/// `FormatMismatch`, unless nothing follows the value.
fn ended(decoder: &Decoder<'_>, any: Any) -> Result<Any, AnyError> {
    match decoder.remaining() {
        0 => Ok(any),
        _ => Err(AnyError::NotOfType(any.type_code().kind()?)),
    }
}
