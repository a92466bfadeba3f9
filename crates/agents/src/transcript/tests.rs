//! Transcripts as Claude Code writes them, and everything else that may stand in their place.

use std::fmt::Write as _;

use serde_json::json;
use tempfile::TempDir;

use super::*;

const NATIVE: &str = "622a09bc-523c-4b1b-b36c-61a8a13a74d5";

struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("-work-project").join(format!("{NATIVE}.jsonl"))
    }

    fn write(&self, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        fs::write(self.path(), text).unwrap();
    }

    fn read(&self, bytes: u64, request: Option<&str>) -> Option<Reading> {
        read(self.folder.path(), NATIVE, bytes, request, Timestamp { ms: i64::MAX })
    }
}

/// A part of an answer to the request of this name.
fn answer(request: &str, model: &str, [input, read, written, output]: [u64; 4]) -> String {
    let usage = json!({"input_tokens": input, "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
        "output_tokens": output, "service_tier": "standard"});
    let message =
        json!({"id": "msg", "model": model, "content": [{"type": "text", "text": "hm"}], "usage": usage});
    format!("{}\n", json!({"type": "assistant", "requestId": request, "message": message, "uuid": "u"}))
}

fn begins() -> String {
    format!("{}\n", json!({"type": "api-request", "id": "x", "params": {}}))
}

fn took(model: &str, [input, read, written, output]: [u64; 4]) -> ModelUsage {
    ModelUsage {
        model: model.to_owned(),
        input,
        output,
        cached_read: Some(read),
        cached_write: Some(written),
    }
}

#[test]
fn requests_are_counted_once_each_from_where_the_last_reading_ended() {
    let world = World::new();
    let mut text = format!("{}\n", json!({"type": "user", "message": {"role": "user", "content": "hi"}}));
    for part in [
        begins(),
        answer("q1", "m-1", [3, 10, 20, 1]),
        answer("q1", "m-1", [3, 10, 20, 7]),
        begins(),
        answer("q2", "m-1", [1, 30, 5, 2]),
        answer("q3", "m-2", [9, 0, 0, 1]),
    ] {
        text.push_str(&part);
    }
    world.write(&text);
    let whole = Reading {
        models: vec![took("m-1", [4, 40, 25, 9]), took("m-2", [9, 0, 0, 1])],
        cut: 0,
        bytes: text.len() as u64,
        request: Some("q3".to_owned()),
    };
    assert_eq!(world.read(0, None), Some(whole));
    // The rest of a request that was counted, a request that was broken off, and half of a line.
    let mark = text.len() as u64;
    text.push_str(&answer("q3", "m-2", [9, 0, 0, 4]));
    text.push_str(&begins());
    let end = text.len() as u64;
    text.push_str("{\"type\":\"assistant\",\"requestId\":\"q4\",\"mess");
    world.write(&text);
    let rest = Reading { models: vec![], cut: 1, bytes: end, request: Some("q3".to_owned()) };
    assert_eq!(world.read(mark, Some("q3")), Some(rest));
    // One that failed took nothing; one that went on without a word of it is broken off.
    let failed = format!("{}\n", json!({"type": "system", "subtype": "api_error"}));
    let synthetic = answer("q9", "<synthetic>", [0, 0, 0, 0]);
    world.write([begins(), failed, begins(), begins(), synthetic].concat());
    let reading = world.read(0, None).unwrap();
    assert_eq!((reading.models, reading.cut), (vec![], 2));
}

#[test]
fn what_is_no_transcript_tells_nothing() {
    let world = World::new();
    assert_eq!(world.read(0, None), None, "there is none");
    world.write("");
    assert_eq!(world.read(0, None), Some(Reading::default()));
    assert_eq!(world.read(9, None), Some(Reading::default()), "it is another, shorter one");
    for odd in [
        &b"\xff\xfe\n{}\n[1]\nnull\n\n"[..],
        b"{\"type\":7}\n{\"type\":\"assistant\"}\n{\"type\":\"assistant\",\"message\":7}\n",
        b"{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":-1}}}\n",
        b"{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"model\":\"m\",\"usage\":{\"input_tokens\":1e99}}}\n",
    ] {
        world.write(odd);
        let expected = Reading { bytes: odd.len() as u64, ..Reading::default() };
        assert_eq!(world.read(0, None), Some(expected), "{odd:?}");
    }
    // Numbers add up to no overflow.
    let most = [u64::MAX, u64::MAX, 0, u64::MAX];
    world.write([answer("a", "m", most), answer("b", "m", most)].concat());
    assert_eq!(world.read(0, None).unwrap().models, [took("m", most)]);
    for native in ["", "../secret", "a/b", ".", "a.b", &"x".repeat(300)] {
        assert_eq!(
            read(world.folder.path(), native, 0, None, Timestamp { ms: i64::MAX }),
            None,
            "{native:?}"
        );
    }
}

#[test]
fn a_line_without_an_end_and_a_huge_file_cost_little() {
    let world = World::new();
    let long = format!("{{\"type\":\"assistant\",\"x\":\"{}\"}}\n", "y".repeat(LINE_BYTES_MAX));
    let after = answer("q1", "m", [1, 2, 3, 4]);
    world.write([&*long, &*after].concat());
    let reading = world.read(0, None).unwrap();
    assert_eq!(reading.models, [took("m", [1, 2, 3, 4])]);
    let mut holes = String::new();
    write!(holes, "{after}").unwrap();
    world.write(holes);
    let file = File::options().write(true).open(world.path()).unwrap();
    file.set_len(READ_BYTES_MAX * 4).unwrap();
    let skipped = Reading { bytes: READ_BYTES_MAX * 4, request: Some("q".to_owned()), ..Reading::default() };
    assert_eq!(world.read(0, Some("q")), Some(skipped));
}

/// What a turn wrote that began while the reading waited is left to the turn's own reading.
#[test]
fn rows_of_after_the_turn_are_left() {
    let world = World::new();
    let at = |line: String, at: &str| line.replacen('{', &format!("{{\"timestamp\":\"{at}\","), 1);
    let own = at(begins(), "2026-12-01T10:00:00.000Z")
        + &at(answer("q1", "m-1", [3, 10, 20, 1]), "2026-12-01T10:00:01.000Z");
    let later = at(begins(), "2026-12-01T10:00:01.001Z") + &answer("q2", "m-1", [1, 1, 1, 1]);
    world.write(own.clone() + &later);
    let until = "2026-12-01T10:00:01Z".parse().unwrap();
    let bytes = own.len() as u64;
    let models = vec![took("m-1", [3, 10, 20, 1])];
    let expected = Reading { models, cut: 0, bytes, request: Some("q1".to_owned()) };
    assert_eq!(read(world.folder.path(), NATIVE, 0, None, until), Some(expected));
    let rest = world.read(bytes, Some("q1")).unwrap();
    assert_eq!((rest.models, rest.cut), (vec![took("m-1", [1, 1, 1, 1])], 0));
}

#[test]
fn only_regular_files_are_read() {
    let world = World::new();
    world.write("");
    fs::remove_file(world.path()).unwrap();
    let elsewhere = world.folder.path().join("elsewhere");
    fs::write(&elsewhere, answer("q1", "m", [1, 2, 3, 4])).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.path()).unwrap();
    assert_eq!(world.read(0, None), None, "a link");
    fs::remove_file(world.path()).unwrap();
    fs::create_dir(world.path()).unwrap();
    assert_eq!(world.read(0, None), None, "a folder");
    fs::remove_dir(world.path()).unwrap();
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, world.path(), pipe, mode, 0).unwrap();
    assert_eq!(world.read(0, None), None, "a pipe");
}
