//! Every diagnostic code, in one table.

use std::fmt;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The specification is accepted.
    Warning,
    /// The specification is refused.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Declares [`Code`] from the table: number, severity, name, meaning.
macro_rules! codes {
    ($($number:literal $severity:ident $name:ident $meaning:literal)+) => {
        /// A stable diagnostic code; displays like `IDL0012`. Numbers are never reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Code {
            $(#[doc = $meaning] $name = $number,)+
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// Severity of every diagnostic with this code.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)+ }
            }

            /// General meaning of the code.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning,)+ }
            }
        }
    };
}

codes! {
    // Files and preprocessing.
    1   Error   UnreadableFile       "A file could not be read."
    2   Error   IncludeNotFound      "An included file was not found in the searched directories."
    3   Error   IncludeDepth         "Files include each other too deeply, most likely in a cycle."
    4   Error   MalformedDirective   "A preprocessor directive is malformed."
    5   Error   UnknownDirective     "The preprocessor directive is unknown."
    6   Error   UnbalancedConditional "`#if`, `#else` and `#endif` do not match."
    7   Error   BadCondition         "The expression of an `#if` cannot be evaluated."
    8   Error   ErrorDirective       "The source contains `#error`."
    9   Warning WarningDirective     "The source contains `#warning`."
    10  Error   BadMacroUse          "A macro has the wrong arguments, or joins what makes no token."
    11  Warning MacroRedefined       "A macro is defined again with another meaning."
    12  Error   LimitExceeded        "The source exceeds a limit of the compiler."
    13  Warning MalformedPragma      "A known pragma is malformed and has no effect."
    14  Warning Omitted              "There are more diagnostics than the limit of a stage."
    // Lexical elements.
    20  Error   UnexpectedCharacter  "A character that has no meaning in IDL."
    21  Error   UnterminatedComment  "A comment is not closed."
    22  Error   UnterminatedLiteral  "A character or string literal is not closed on its line."
    23  Error   MalformedNumber      "A number is malformed."
    24  Error   BadEscape            "A character or string literal has an invalid escape or character."
    25  Error   NumberTooLarge       "An integer or fixed-point literal does not fit in any type."
    // Syntax.
    30  Error   Syntax               "The grammar requires something else here."
    31  Error   KeywordAsIdentifier  "An identifier collides with a keyword."
    32  Warning LateKeyword          "An identifier is a keyword of a later IDL version."
    33  Error   NestingTooDeep       "Types, expressions or definitions are nested too deeply."
    34  Error   MixedConcatenation   "Wide and narrow string literals are concatenated."
    35  Error   EmptyBody            "The construct needs at least one member."
    36  Warning EmptyDeclaration     "A `;` ends no declaration."
    // Names.
    40  Error   UnknownName          "A name is not declared in the searched scopes."
    41  Error   Redefinition         "A name is declared twice in one scope."
    42  Error   CaseClash            "Two names differ only in case."
    43  Error   WrongCase            "A name is used with another case than in its declaration."
    44  Error   RedefinedAfterUse    "A name is declared in a scope that has used it with another meaning."
    45  Error   AmbiguousName        "A name is inherited from several bases with different meanings."
    46  Error   WrongKindOfName      "A name denotes something that is not permitted here."
    47  Error   NotAScope            "A qualified name goes through something that contains no names."
    48  Error   NameOfEnclosingScope "A definition has the name of the scope that directly encloses it."
    49  Error   NeverDefined         "A struct or union is declared forward but never defined."
    50  Warning OnlyDeclared         "An interface or value type is declared forward but never defined."
    // Types.
    60  Error   IncompleteType       "A type is used before its definition is complete."
    61  Error   AnonymousType        "A type must be named before it can be used here."
    62  Error   BadBound             "A bound, a dimension or the digits of a fixed type are out of range."
    63  Error   BadDiscriminator     "A union cannot have a discriminator of this type."
    64  Error   DuplicateLabel       "A union has two cases for one value."
    65  Error   WrongLabel           "A case label is not a value of the discriminator's type."
    66  Error   UselessDefault       "A union has a `default` although its labels cover all values."
    67  Error   BadKey               "A map cannot have a key of this type."
    68  Error   BadBits              "The bits of a bitmask or bitset do not fit, or are taken."
    // Constants.
    70  Error   ConstantOutOfRange   "A value does not fit in its type."
    71  Error   DivisionByZero       "A constant expression divides by zero."
    72  Error   BadShift             "A constant expression shifts by less than 0 or more than 63 bits."
    73  Error   ArithmeticOverflow   "A constant expression overflows."
    74  Error   ConstantTypeMismatch "A value or operator does not match the type of the constant."
    75  Error   BadAnnotation        "An annotation has a wrong argument, or a value that does not suit."
    76  Warning WithoutEffect        "An annotation asks for what GIOP or the generated code does not have."
    // Interfaces and value types.
    80  Error   BadBase              "A base is of a kind that cannot be inherited or supported here."
    81  Error   DuplicateBase        "A direct base is named twice."
    82  Error   InheritedOperation   "An operation or attribute is redeclared, or inherited twice."
    83  Error   OnewayNotVoid        "A oneway operation has a result."
    84  Error   OnewayDirection      "A oneway operation has an `out` or `inout` parameter."
    85  Error   OnewayRaises         "A oneway operation raises user exceptions."
    86  Error   BadRaises            "A `raises` clause names something other than an exception."
    87  Error   ForwardMismatch      "A definition and its forward declaration differ in kind."
    88  Warning DuplicateRaises      "An exception is listed twice in one clause."
    89  Error   LocalType            "A local type is used where values are sent."
    92  Error   BadValueType         "A value type breaks the rules of its kind."
    93  Error   BadContextName       "A name in a `context` clause is malformed."
    // Repository ids.
    90  Error   RepositoryIdConflict "A definition has two repository ids, or that of another one."
    91  Error   BadRepositoryId      "A repository id, prefix or version is malformed."
    // Code generation.
    100 Error   NotGenerated         "No code for it: components, unknown imports, natives that are sent."
}

impl Code {
    /// IDL that is reported with this code; `None`: it depends on files, or exceeds a limit.
    ///
    /// ```
    /// use punctual_idl::Code;
    ///
    /// assert!(Code::UnknownName.example().unwrap().starts_with("struct Sample"));
    /// assert_eq!(Code::LimitExceeded.example(), None);
    /// ```
    pub fn example(self) -> Option<&'static str> {
        let sections = include_str!("examples.idl").split("//! ").skip(1);
        let mut examples = sections.filter_map(|section| section.split_once('\n'));
        let (_, example) = examples.find(|(code, _)| code.parse() == Ok(self))?;
        Some(example.trim_end())
    }

    /// Whether [`Options::warn`](crate::Options::warn) may name it: a specification that breaks only such
    /// rules has one meaning, so other compilers accept it.
    pub fn can_be_warning(self) -> bool {
        matches!(
            self,
            Self::KeywordAsIdentifier
                | Self::EmptyBody
                | Self::AnonymousType
                | Self::WrongCase
                | Self::RedefinedAfterUse
                | Self::NameOfEnclosingScope
                | Self::DuplicateBase
                | Self::BadContextName
        )
    }
}

impl std::str::FromStr for Code {
    type Err = UnknownCode;

    /// Reads `IDL0043`, `43`, or anything between.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let number = text.trim_start_matches("IDL").trim_start_matches('0');
        let number: Option<u16> = number.parse().ok();
        let mut all = Self::ALL.iter().copied();
        all.find(|code| Some(*code as u16) == number)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

/// A text that is not the code of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode(String);

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not the code of a diagnostic; `punctual idl explain` lists them",
            self.0
        )
    }
}

impl std::error::Error for UnknownCode {}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IDL{:04}", *self as u16)
    }
}
