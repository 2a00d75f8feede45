//! Kinds of type codes.

macro_rules! kinds {
    ($($name:ident = $number:literal, $idl:literal;)*) => {
        /// The kind of a type code, `CORBA::TCKind`.
        ///
        /// ```
        /// # mod punctual { pub(crate) use punctual_any as any; }
        /// use punctual::any::Kind;
        ///
        /// assert_eq!(Kind::from_number(15), Some(Kind::Struct));
        /// assert_eq!(Kind::Struct.idl(), "struct");
        /// assert_eq!(Kind::from_number(99), None);
        /// ```
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[repr(u32)]
        pub enum Kind {
            $(#[doc = concat!("`", $idl, "`.")] $name = $number,)*
        }

        impl Kind {
            /// Returns the kind with this number on the wire.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns the construct in IDL, such as `sequence`.
            pub const fn idl(self) -> &'static str {
                match self {
                    $(Self::$name => $idl,)*
                }
            }
        }
    };
}

kinds! {
    Null = 0, "null";
    Void = 1, "void";
    Short = 2, "short";
    Long = 3, "long";
    UShort = 4, "unsigned short";
    ULong = 5, "unsigned long";
    Float = 6, "float";
    Double = 7, "double";
    Boolean = 8, "boolean";
    Char = 9, "char";
    Octet = 10, "octet";
    Any = 11, "any";
    TypeCode = 12, "CORBA::TypeCode";
    Principal = 13, "CORBA::Principal";
    ObjRef = 14, "interface";
    Struct = 15, "struct";
    Union = 16, "union";
    Enum = 17, "enum";
    String = 18, "string";
    Sequence = 19, "sequence";
    Array = 20, "array";
    Alias = 21, "typedef";
    Except = 22, "exception";
    LongLong = 23, "long long";
    ULongLong = 24, "unsigned long long";
    LongDouble = 25, "long double";
    WChar = 26, "wchar";
    WString = 27, "wstring";
    Fixed = 28, "fixed";
    Value = 29, "valuetype";
    ValueBox = 30, "boxed valuetype";
    Native = 31, "native";
    AbstractInterface = 32, "abstract interface";
    LocalInterface = 33, "local interface";
    Component = 34, "component";
    Home = 35, "home";
    Event = 36, "eventtype";
}

/// How values of a type are marshalled, `CORBA::ValueModifier`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, TypeCode, ValueModifier};
///
/// // custom valuetype Sparse { private long count; };
/// let count = ("count", TypeCode::basic(Kind::Long), false);
/// let sparse = TypeCode::value("IDL:Sparse:1.0", "Sparse", ValueModifier::Custom, None, [count]);
/// assert_eq!(sparse.kind()?, Kind::Value);
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i16)]
pub enum ValueModifier {
    /// Marshalled as the members state.
    None = 0,
    /// Marshalled by the application.
    Custom = 1,
    /// Abstract: the type has no state.
    Abstract = 2,
    /// Marshalled in chunks, so that a receiver can skip members that it does not know.
    Truncatable = 3,
}

/// How the parameters of a kind are encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Parameters {
    None,
    /// The bound of a string.
    Bound,
    /// Digits and scale of a `fixed`.
    Fixed,
    Encapsulation,
}

impl Kind {
    /// Source: CORBA 3.3 part 2, table 9.2.
    pub(crate) const fn parameters(self) -> Parameters {
        match self {
            Self::Null
            | Self::Void
            | Self::Short
            | Self::Long
            | Self::UShort
            | Self::ULong
            | Self::Float
            | Self::Double
            | Self::Boolean
            | Self::Char
            | Self::Octet
            | Self::Any
            | Self::TypeCode
            | Self::Principal
            | Self::LongLong
            | Self::ULongLong
            | Self::LongDouble
            | Self::WChar => Parameters::None,
            Self::String | Self::WString => Parameters::Bound,
            Self::Fixed => Parameters::Fixed,
            _ => Parameters::Encapsulation,
        }
    }

    /// Size and alignment of a number on the wire.
    pub(crate) const fn number_size(self) -> Option<usize> {
        match self {
            Self::Boolean | Self::Char | Self::Octet => Some(1),
            Self::Short | Self::UShort => Some(2),
            Self::Long | Self::ULong | Self::Float => Some(4),
            Self::LongLong | Self::ULongLong | Self::Double => Some(8),
            _ => None,
        }
    }
}
