//! Transactions: all of it or nothing, parts that are undone alone, one commit for many.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

stories![
    atomic_is_all_or_nothing,
    a_part_is_undone_alone,
    a_panic_undoes,
    many_jobs_share_a_commit,
    atomically_gives_a_value,
    trying_to_write_changes_nothing,
];

fn refusal() -> Error {
    Error::Conflict("no".to_owned())
}

fn append(store: &mut dyn Store, text: &str) -> Result<MessageId, Error> {
    store.append(&new_message(&"c1".into(), "aiko", text), at(1)).map(|appended| message_of(appended).row.id)
}

fn texts(store: &dyn Store) -> Vec<String> {
    let history = store.history(&"c1".into(), None, None, 1_000).unwrap();
    history.into_iter().map(|message| message.row.text).collect()
}

#[track_caller]
fn check_texts(store: &dyn Store, expected: &[&str]) {
    check("texts", texts(store), expected.iter().map(|text| (*text).to_owned()).collect());
    let seqs: Vec<u64> =
        store.channel_events(&"c1".into(), 0, 1_000).unwrap().iter().map(|event| event.seq).collect();
    check("dense", seqs, (1..=expected.len() as u64).collect());
}

fn trying_to_write_changes_nothing(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    append(store, "one").unwrap();
    check("by itself", store.try_write().is_ok(), true);
    let inside = store.atomic(&mut |store| {
        append(store, "two")?;
        store.try_write()
    });
    check("inside", inside.is_ok(), true);
    check_texts(store, &["one", "two"]);
}

fn atomic_is_all_or_nothing(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let done = store.atomic(&mut |store| {
        append(store, "one")?;
        check_texts(store, &["one"]);
        append(store, "two").map(|_| ())
    });
    check("done", done.is_ok(), true);
    let undone = store.atomic(&mut |store| {
        append(store, "three")?;
        store.add_channel("other", ChannelKind::Public, at(1))?;
        Err(refusal())
    });
    check_refused("undone", undone, "no");
    check_texts(store, &["one", "two"]);
    check("no channel", store.channels().unwrap().len(), 1);
    append(store, "four").unwrap();
    check_texts(store, &["one", "two", "four"]);
}

fn a_part_is_undone_alone(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let done = store.atomic(&mut |store| {
        append(store, "one")?;
        let part = store.atomic(&mut |store| {
            append(store, "two")?;
            let inner = store.atomic(&mut |store| append(store, "three").map(|_| ()));
            check("inner", inner.is_ok(), true);
            Err(refusal())
        });
        check_refused("part", part, "no");
        store.atomic(&mut |store| append(store, "four").map(|_| ()))?;
        check_refused("a refusal alone", append(store, ""), "a message needs a text");
        append(store, "five").map(|_| ())
    });
    check("done", done.is_ok(), true);
    check_texts(store, &["one", "four", "five"]);
}

fn a_panic_undoes(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        store.atomic(&mut |store| {
            append(store, "one")?;
            store.atomic(&mut |store| {
                append(store, "two")?;
                std::panic::resume_unwind(Box::new("on purpose"))
            })
        })
    }));
    check("it goes on", panic.unwrap_err().downcast_ref(), Some(&"on purpose"));
    append(store, "three").unwrap();
    check_texts(store, &["three"]);
}

fn many_jobs_share_a_commit(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let jobs = ["one", "two", "", "half", "five"];
    let mut results = Vec::new();
    let committed = store.atomic(&mut |store| {
        for text in jobs {
            results.push(atomically(store, |store| {
                let id = append(store, text)?;
                if text == "half" { Err(refusal()) } else { Ok(id.to_string()) }
            }));
        }
        Ok(())
    });
    check("committed", committed.is_ok(), true);
    let results: Vec<String> =
        results.into_iter().map(|result| result.unwrap_or_else(|error| error.to_string())).collect();
    check("results", results, ["m1", "m2", "a message needs a text", "no", "m3"].map(String::from).to_vec());
    check_texts(store, &["one", "two", "five"]);
}

fn atomically_gives_a_value(store: &mut dyn Store) {
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let id = atomically(store, |store| append(store, "one")).unwrap();
    check("value", id.to_string(), "m1".to_owned());
    let refused = atomically(store, |store| append(store, "two").and(Err::<(), _>(refusal())));
    check_refused("refused", refused, "no");
    check_texts(store, &["one"]);
}
