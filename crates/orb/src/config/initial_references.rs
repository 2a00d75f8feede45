//! Initial references of an ORB: URLs by name, for `corbaloc:rir:`. Source: CORBA 3.3 part 1, 8.5.2 and 8.5.3
//! (`-ORBInitRef`, `-ORBDefaultInitRef`).

use std::{collections::BTreeMap, env};

use punctual_giop::{NAME_SERVICE, ObjectUrl};

use crate::notice;

/// URLs by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct InitialReferences {
    urls: BTreeMap<String, String>,
    /// Start of the URL of all other names.
    default: Option<String>,
}

impl InitialReferences {
    /// Environment variable with the URLs that the program does not set: `NAME=URL`, separated by white
    /// space.
    pub(crate) const ENVIRONMENT: &str = "PUNCTUAL_INITIAL_REFERENCES";
    /// Environment variable with the start of the URL of all other names, unless the program sets it.
    pub(crate) const ENVIRONMENT_DEFAULT: &str = "PUNCTUAL_DEFAULT_INITIAL_REFERENCE";

    pub(crate) fn set(&mut self, name: String, url: String) {
        self.urls.insert(name, url);
    }

    pub(crate) fn set_default(&mut self, url: String) {
        self.default = Some(url);
    }

    /// Adds those of the environment.
    pub(crate) fn and_environment(self) -> Self {
        let variable = |name| env::var(name).unwrap_or_default();
        self.and(&variable(Self::ENVIRONMENT), &variable(Self::ENVIRONMENT_DEFAULT))
    }

    fn and(mut self, urls: &str, default: &str) -> Self {
        for text in urls.split_ascii_whitespace() {
            match text.split_once('=') {
                Some((name, url)) if !name.is_empty() => {
                    self.urls.entry(name.to_owned()).or_insert_with(|| url.to_owned());
                }
                _ => notice::print(&format!(
                    "`{text}` in {} is ignored; write NAME=URL, such as \
                     {NAME_SERVICE}=corbaloc::localhost:2809/{NAME_SERVICE}",
                    Self::ENVIRONMENT
                )),
            }
        }
        let default = Some(default.trim()).filter(|url| !url.is_empty());
        self.default = self.default.or_else(|| default.map(str::to_owned));
        self
    }

    /// Returns the URL of an initial reference.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let url = self.urls.get(name).cloned();
        url.or_else(|| {
            let default = self.default.as_deref()?.trim_end_matches('/');
            // `corbaloc:rir:/NAME`, with the name escaped.
            let name = name.to_owned();
            let escaped = ObjectUrl::Rir { name }.to_string();
            Some(format!("{default}{}", escaped.strip_prefix("corbaloc:rir:")?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_comes_before_the_environment_and_names_before_the_default() {
        let mut own = InitialReferences::default();
        own.set("NameService".to_owned(), "corbaloc::own/N".to_owned());
        let all = own.and(
            " NameService=corbaloc::other/N\n Radar=corbaloc::r/K=1 none =x ",
            "corbaloc::all/ ",
        );
        for (name, url) in [
            ("NameService", "corbaloc::own/N"),
            ("Radar", "corbaloc::r/K=1"),
            ("none", "corbaloc::all/none"),
            ("a b#c%", "corbaloc::all/a%20b%23c%25"),
        ] {
            assert_eq!(all.get(name).as_deref(), Some(url));
        }
        assert_eq!(InitialReferences::default().and("", " ").get("Radar"), None);
    }
}
