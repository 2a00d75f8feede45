//! Paths of adapters: their names and those of their parents below the root, joined by `/`. In a name, `~1`
//! stands for `/` and `~0` for `~`, as in JSON pointers (RFC 6901).

use std::borrow::Cow;

/// Returns the path of the child with this name.
pub(crate) fn below(parent: &str, name: &str) -> String {
    let name = name.replace('~', "~0").replace('/', "~1");
    match parent {
        "" => name,
        parent => format!("{parent}/{name}"),
    }
}

/// Returns the names of the adapters on a path, from the top.
pub(crate) fn names(path: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    path.split('/').filter(|name| !name.is_empty()).map(name)
}

fn name(escaped: &str) -> Cow<'_, str> {
    match escaped.contains('~') {
        true => escaped.replace("~1", "/").replace("~0", "~").into(),
        false => escaped.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_contain_any_names() {
        let all = ["radar", "a/b", "~", "~1", "/", "~0/~", "é"];
        let path = all.iter().fold(String::new(), |path, name| below(&path, name));
        assert_eq!(path, "radar/a~1b/~0/~01/~1/~00~1~0/é");
        assert!(names(&path).eq(all));
        assert_eq!(names("").next(), None);
    }
}
