-- Everything the host keeps. Ids are ULIDs as text, times microseconds of Unix time, JSON is text.
-- A table that a journal can fill again says so; the rest is what people entrusted to us.

CREATE TABLE epoch (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL
);

CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL,
    cwd           TEXT NOT NULL,
    setup         TEXT NOT NULL,
    mode          TEXT NOT NULL,
    core          TEXT NOT NULL,
    state         TEXT NOT NULL,
    state_name    TEXT NOT NULL,
    reason        TEXT NOT NULL,
    since         INTEGER NOT NULL,
    cut_off       INTEGER NOT NULL,
    queue_held    INTEGER NOT NULL,
    live          INTEGER NOT NULL,
    conversation  TEXT,
    version       TEXT,
    model         TEXT,
    generation    INTEGER NOT NULL,
    token         TEXT NOT NULL,
    cursor        TEXT NOT NULL,
    cost_usd      REAL NOT NULL,
    created       INTEGER NOT NULL,
    last_activity INTEGER NOT NULL,
    parent        TEXT,
    origin        TEXT,
    archived      INTEGER NOT NULL,
    trashed       INTEGER,
    worktree      TEXT
);
CREATE INDEX sessions_by_activity ON sessions (last_activity, id);
-- Two agents on one conversation would both do what they are told.
CREATE UNIQUE INDEX one_live_conversation ON sessions (conversation) WHERE live = 1 AND conversation IS NOT NULL;

-- The question comes from the journal, the decision from a person.
CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    generation  INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    request_id  TEXT NOT NULL,
    subtype     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    tool        TEXT NOT NULL,
    tool_use_id TEXT,
    input       TEXT NOT NULL,
    digest      TEXT NOT NULL,
    path        TEXT NOT NULL,
    reason      TEXT NOT NULL,
    remark      TEXT,
    offers      TEXT NOT NULL,
    life        TEXT NOT NULL,
    life_name   TEXT NOT NULL,
    asked       INTEGER NOT NULL,
    expires     INTEGER,
    decided     TEXT,
    answer      TEXT
);
CREATE UNIQUE INDEX approvals_by_record ON approvals (session, generation, seq);
CREATE INDEX approvals_by_request ON approvals (session, generation, request_id, seq);
CREATE INDEX approvals_by_call ON approvals (session, tool_use_id, generation, seq) WHERE tool_use_id IS NOT NULL;
CREATE INDEX approvals_by_time ON approvals (asked, id);
CREATE INDEX approvals_of_session ON approvals (session, asked, id);
CREATE INDEX approvals_open ON approvals (asked, id) WHERE life_name = 'open';
CREATE INDEX approvals_open_of_session ON approvals (session, asked, id) WHERE life_name = 'open';
CREATE INDEX approvals_unsettled ON approvals (session, asked, id)
    WHERE life_name IN ('open', 'decided', 'written');
CREATE INDEX approvals_expiring ON approvals (expires) WHERE life_name = 'open' AND expires IS NOT NULL;

CREATE TABLE queue (
    id               TEXT PRIMARY KEY,
    session          TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    place            INTEGER NOT NULL,
    text             TEXT NOT NULL,
    blocks           TEXT NOT NULL,
    at               INTEGER NOT NULL,
    by               TEXT NOT NULL,
    going_generation INTEGER,
    going_n          INTEGER
);
CREATE INDEX queue_of_session ON queue (session, place);

-- What goes to a keeper, by number. The line goes when the journal has it.
CREATE TABLE outbox (
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    message    TEXT,
    line       BLOB,
    settled    TEXT,
    PRIMARY KEY (session, generation, n)
);

CREATE TABLE receipts (
    key     TEXT PRIMARY KEY,
    digest  TEXT NOT NULL,
    receipt TEXT NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX receipts_by_time ON receipts (at);

CREATE TABLE rules (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    scope      TEXT NOT NULL,
    session    TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    repository TEXT,
    effect     TEXT NOT NULL,
    rule       TEXT NOT NULL,
    expires    INTEGER,
    by         TEXT NOT NULL,
    client     TEXT NOT NULL,
    at         INTEGER NOT NULL,
    approval   TEXT
);
CREATE INDEX rules_of_session ON rules (session) WHERE session IS NOT NULL;

CREATE TABLE plans (
    session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    approval TEXT,
    at       INTEGER NOT NULL,
    by       TEXT NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (session, number)
);

-- AUTOINCREMENT: a number is never used again, also when the newest events are gone.
CREATE TABLE events (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    session TEXT,
    what    TEXT NOT NULL
);

-- From journals. What was spent stays spent when a session goes, so it does not hang on one.
CREATE TABLE usage (
    session               TEXT NOT NULL,
    day                   TEXT NOT NULL,
    model                 TEXT NOT NULL,
    cost_usd              REAL NOT NULL,
    turns                 INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    cache_read_tokens     INTEGER NOT NULL,
    cache_creation_tokens INTEGER NOT NULL,
    PRIMARY KEY (session, day, model)
) WITHOUT ROWID;
CREATE INDEX usage_by_day ON usage (day, model);

-- From journals.
CREATE TABLE totals (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    totals  TEXT NOT NULL
) WITHOUT ROWID;

-- From journals: the checkpoints of transcripts.
CREATE TABLE shelf (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    value   BLOB NOT NULL,
    PRIMARY KEY (session, name)
);

-- From journals: the words of transcripts. An id is the moment of its entry, or the next free one, so that the index,
-- which goes by id, goes by time.
CREATE TABLE search (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    entry   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    text    TEXT NOT NULL
);
CREATE UNIQUE INDEX search_by_entry ON search (session, entry);
CREATE VIRTUAL TABLE search_fts USING fts5 (
    text,
    content = 'search',
    content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2',
    prefix = '2 3'
);
CREATE TRIGGER search_added AFTER INSERT ON search BEGIN
    INSERT INTO search_fts (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER search_removed AFTER DELETE ON search BEGIN
    INSERT INTO search_fts (search_fts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER search_changed AFTER UPDATE ON search BEGIN
    INSERT INTO search_fts (search_fts, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO search_fts (rowid, text) VALUES (new.id, new.text);
END;
