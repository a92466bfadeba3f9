//! Which packages are named, which files are texts, and what the file looks like.

use std::path::PathBuf;

use super::*;

fn package(name: &str, license: &str) -> Package {
    Package {
        name: name.into(),
        version: "1.0.0".into(),
        license: license.into(),
        origin: format!("https://example.org/{name}"),
        folder: PathBuf::new(),
        license_file: None,
    }
}

#[test]
fn a_text_that_several_carry_is_there_once() {
    let entry = |name: &str, license: &str, texts: &[&str]| Entry {
        package: package(name, license),
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
    };
    let rendered = render(&[
        entry("first", "MIT OR Apache-2.0", &["Apache\ntext", "Mit of first"]),
        entry("second", "Apache-2.0", &["Apache text"]),
        entry("third", "Zlib", &[]),
        entry("fourth", "MIT", &["Mit of fourth", "Mit of fourth"]),
    ]);
    let rule = "-".repeat(93);
    let expected = format!(
        "{OPENING}
- first 1.0.0: MIT OR Apache-2.0 [1] [2]
- second 1.0.0: Apache-2.0 [1]
- third 1.0.0: Zlib (carries no text; see https://example.org/third)
- fourth 1.0.0: MIT [3]

-- [1] {rule}
Apache
text

-- [2] {rule}
Mit of first

-- [3] {rule}
Mit of fourth
"
    );
    assert_eq!(rendered, expected);
}

#[test]
fn what_the_binary_is_built_from_is_named() {
    let described = |id: &str, source: &str| {
        format!(
            r#"{{"id": "{id}", "name": "{id}", "version": "1.0.0", "source": {source}, "license": "MIT",
                "license_file": null, "repository": null, "manifest_path": "/x/{id}/Cargo.toml"}}"#
        )
    };
    let edge = |to: &str, kind: &str| format!(r#"{{"pkg": "{to}", "dep_kinds": [{{"kind": {kind}}}]}}"#);
    let node = |id: &str, edges: &[String]| format!(r#"{{"id": "{id}", "deps": [{}]}}"#, edges.join(","));
    let registry = r#""registry""#;
    let packages = [
        described("cli", "null"),
        described("server", "null"),
        described("web", registry),
        described("built", registry),
        described("deep", registry),
        described("tested", registry),
        described("apart", registry),
    ];
    let nodes = [
        node("cli", &[edge("server", "null"), edge("tested", r#""dev""#)]),
        node("server", &[edge("web", "null"), edge("built", r#""build""#)]),
        node("web", &[edge("deep", "null")]),
        node("deep", &[edge("web", "null")]),
        node("tested", &[edge("apart", "null")]),
    ];
    let metadata =
        format!(r#"{{"packages": [{}], "resolve": {{"nodes": [{}]}}}}"#, packages.join(","), nodes.join(","));
    let found = packages::parse(&metadata).unwrap();
    let found: Vec<(&str, &Path)> =
        found.iter().map(|found| (found.name.as_str(), found.folder.as_path())).collect();
    let expected =
        [("built", Path::new("/x/built")), ("deep", Path::new("/x/deep")), ("web", Path::new("/x/web"))];
    assert_eq!(found, expected);
    assert!(packages::parse(r#"{"packages": [], "resolve": {"nodes": []}}"#).is_err());
}

#[test]
fn texts_are_told_by_their_names() {
    for name in [
        "LICENSE",
        "license-mit.txt",
        "LICENSE.md",
        "Licence",
        "COPYING",
        "NOTICE",
        "UNLICENSE",
        "LICENSE.Apache-2.0",
    ] {
        assert!(texts::is_text(Path::new(name)), "{name}");
    }
    for name in ["license.rs", "README.md", "MIT-LICENSE.txt", "notices.toml"] {
        assert!(!texts::is_text(Path::new(name)), "{name}");
    }
    assert_eq!(texts::tidied("\u{feff}\r\nOne  \r\n\r\n  Two\r\n\r\n"), "One\n\n  Two");
}

#[test]
fn a_stale_file_names_its_first_wrong_line() {
    let check = |present: &str, due: &str, expected: Option<&str>| {
        assert_eq!(difference(present, due).as_deref(), expected);
    };
    check("a\nb\n", "a\nb\n", None);
    check("a\nb\n", "a\nc\n", Some("line 2 is `b`, not `c`"));
    check("a\n", "a\nc\n", Some("line 2 is missing: `c`"));
    check("a\nb\n", "a\n", Some("line 2 is left over: `b`"));
    check("a\r\n", "a\n", Some("its line ends differ"));
}

#[test]
fn the_page_tells_what_it_is_made_of() {
    let told =
        r#"[{"name": "@a/b", "version": "2.0.0", "license": "MIT", "texts": ["\ufeffMit  \nof b\n"]}]"#;
    let entries = page::parse(told).unwrap();
    let shown: Vec<String> = entries.iter().map(|entry| listed(&entry.package, &[1])).collect();
    assert_eq!(shown, ["- npm:@a/b 2.0.0: MIT [1]\n"]);
    assert_eq!(entries[0].texts, ["Mit\nof b"]);
}
