//! "Did you mean": the known word that is nearest to an unknown one.

use crate::token::{KEYWORDS, is_keyword};

/// Terms of other languages, and their IDL equivalents.
const FOREIGN: &[(&str, &str)] = &[
    ("bool", "boolean"),
    ("byte", "octet"),
    ("bytes", "sequence<octet>"),
    ("class", "interface"),
    ("extends", ":"),
    ("f32", "float"),
    ("f64", "double"),
    ("float32", "float"),
    ("float64", "double"),
    ("i16", "short"),
    ("i32", "long"),
    ("i64", "long long"),
    ("i8", "int8"),
    ("implements", "supports"),
    ("int", "long"),
    ("int16_t", "short"),
    ("int32_t", "long"),
    ("int64_t", "long long"),
    ("int8_t", "int8"),
    ("list", "sequence"),
    ("namespace", "module"),
    ("package", "module"),
    ("real", "double"),
    ("size_t", "unsigned long long"),
    ("str", "string"),
    ("throws", "raises"),
    ("u16", "unsigned short"),
    ("u32", "unsigned long"),
    ("u64", "unsigned long long"),
    ("u8", "octet"),
    ("uint", "unsigned long"),
    ("uint16_t", "unsigned short"),
    ("uint32_t", "unsigned long"),
    ("uint64_t", "unsigned long long"),
    ("uint8_t", "octet"),
    ("vector", "sequence"),
    ("wchar_t", "wchar"),
];

/// Words of other languages that have no counterpart.
const WITHOUT_MEANING: &[&str] = &[
    "final",
    "inline",
    "mutable",
    "protected",
    "signed",
    "static",
    "virtual",
];

/// Returns whether a word of another language is simply left out in IDL.
pub(crate) fn without_meaning(word: &str) -> bool {
    WITHOUT_MEANING.contains(&word)
}

/// Returns a help line for a word in the place of a keyword: of another language, or a misspelt one.
pub(crate) fn keyword_for(word: &str) -> Option<String> {
    if is_keyword(word) {
        return None;
    }
    word_of_idl(word).or_else(|| {
        let foreign = FOREIGN.iter().map(|(foreign, _)| *foreign);
        let near = nearest(word, KEYWORDS.iter().copied().chain(foreign))?;
        word_of_idl(near).or_else(|| Some(format!("did you mean `{near}`?")))
    })
}

/// Returns a help line for the word of another language.
pub(crate) fn word_of_idl(word: &str) -> Option<String> {
    let (_, idl) = FOREIGN.iter().find(|(foreign, _)| *foreign == word)?;
    Some(format!("did you mean `{idl}`?"))
}

/// Returns a help line that names the candidate nearest to `word`, if one is near enough.
///
/// ```
/// use punctual_idl::did_you_mean;
///
/// let help = did_you_mean("Tarck", ["Track", "Radar"]);
/// assert_eq!(help.as_deref(), Some("did you mean `Track`?"));
/// ```
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// Returns the candidate nearest to `word`, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Words of two letters resemble everything.
    if word.len() < 3 {
        return None;
    }
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= allowed + 1)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours between two words,
/// regardless of case.
fn distance(a: &str, b: &str) -> usize {
    // Identifiers have no length limit, but a suggestion for a very long one is of no use.
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_word_only() {
        assert_eq!(
            did_you_mean("Montior", ["Monitor", "Mentor"]).as_deref(),
            Some("did you mean `Monitor`?")
        );
        assert_eq!(did_you_mean("Radar", ["Sonar", "Track"]), None);
        assert_eq!(
            did_you_mean("lnog", ["long"]).as_deref(),
            Some("did you mean `long`?")
        );
    }
}
