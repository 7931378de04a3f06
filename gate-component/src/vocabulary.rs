//! Closed sets of words: enums that have exactly one spelling, the same in files, on the wire and in WIT.

/// An enum whose variants are words of the specification.
pub trait Word: Copy + 'static {
    /// Every word, in the order of the specification.
    const ALL: &'static [Self];
    /// The word as it is written in JSON.
    fn as_str(self) -> &'static str;
    /// The variant for a word.
    fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|variant| variant.as_str() == word)
    }
}

/// Declares an enum together with the spelling of each variant.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $crate::vocabulary::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::vocabulary::Word::as_str(*self))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::vocabulary::Word::as_str(*self))
            }
        }
    };
}
pub(crate) use vocabulary;
