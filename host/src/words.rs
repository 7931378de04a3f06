//! Closed sets of words: enums that have exactly one spelling, in files and in JSON.

/// Declares an enum together with the spelling of each variant.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl ralph_gate_component::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(ralph_gate_component::Word::as_str(*self))
            }
        }
    };
}
pub(crate) use words;
