//! What a character is to the patterns by which text is split.

use unicode_general_category::{GeneralCategory, get_general_category};

/// The classes that the patterns tell apart; each character is of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A capital letter (`\p{Lu}`, `\p{Lt}`).
    Upper,
    /// A small letter (`\p{Ll}`).
    Lower,
    /// A letter of neither kind (`\p{Lm}`, `\p{Lo}`).
    Letter,
    /// What belongs to the letter before it (`\p{M}`).
    Mark,
    /// `\p{N}`.
    Number,
    /// A carriage return or line feed.
    Break,
    /// Other `\s`.
    Space,
    /// All others.
    Other,
}

impl Class {
    /// Of `\p{L}`.
    pub(super) fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Letter)
    }

    /// Of `\s`.
    pub(super) fn is_white(self) -> bool {
        matches!(self, Self::Break | Self::Space)
    }

    /// Of `[^\s\p{L}\p{N}]`.
    pub(super) fn is_sign(self) -> bool {
        matches!(self, Self::Mark | Self::Other)
    }

    /// May stand in the capital beginning of a word: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
    pub(super) fn is_capital(self) -> bool {
        matches!(self, Self::Upper | Self::Letter | Self::Mark)
    }

    /// May stand in the small end of a word: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
    pub(super) fn is_small(self) -> bool {
        matches!(self, Self::Lower | Self::Letter | Self::Mark)
    }

    pub(super) fn of(character: char) -> Self {
        match ASCII.get(character as usize) {
            Some(class) => *class,
            None if character.is_whitespace() => Self::Space,
            None => Self::of_category(character),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "to the patterns, all that is not named is one")]
    fn of_category(character: char) -> Self {
        match get_general_category(character) {
            GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => Self::Upper,
            GeneralCategory::LowercaseLetter => Self::Lower,
            GeneralCategory::ModifierLetter | GeneralCategory::OtherLetter => Self::Letter,
            GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark => Self::Mark,
            GeneralCategory::DecimalNumber | GeneralCategory::LetterNumber | GeneralCategory::OtherNumber => {
                Self::Number
            }
            _ => Self::Other,
        }
    }
}

/// The classes of the first 128 characters, which most text is made of.
pub(super) const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Number,
            b'\r' | b'\n' => Class::Break,
            b' ' | b'\t' | 0x0b | 0x0c => Class::Space,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};
