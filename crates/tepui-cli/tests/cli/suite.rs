//! Suites of models, and the tables that are made of them.

use serde_json::Value;

use crate::room::Room;

/// A room with a suite of one model.
pub(crate) fn room(model: &str) -> Room {
    let room = Room::new();
    std::fs::create_dir(room.path("suite")).unwrap();
    std::fs::copy(room.path(model), room.path("suite").join(model)).unwrap();
    room
}

/// A room with a suite that has a model in each form, one of them given by its text, and what is no model.
pub(crate) fn room_of_all_forms(spade: &str) -> Room {
    let room = room("lock.cpds");
    for file in ["relay.pds", "relay.init", "relay.spec", "begin.bp", "doors.rpds", "notes.txt"] {
        std::fs::copy(room.path(file), room.path("suite").join(file)).unwrap();
    }
    std::fs::create_dir(room.path("suite/more")).unwrap();
    room.write("suite/hello.spad", spade);
    room
}

pub(crate) fn document(room: &Room, name: &str) -> Value {
    serde_json::from_str(&room.read_text(name)).unwrap()
}

#[track_caller]
pub(crate) fn rows<'a>(document: &'a Value, table: &str) -> &'a [Value] {
    document[table].as_array().unwrap_or_else(|| panic!("there is no list {table}: {document}"))
}

/// The words of the first line that begins with these words.
#[track_caller]
pub(crate) fn line<'a>(text: &'a str, beginning: &[&str]) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.starts_with(beginning)).unwrap_or_else(|| panic!("no line {beginning:?}: {text}"))
}
