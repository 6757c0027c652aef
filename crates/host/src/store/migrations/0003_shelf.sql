-- Why a rule is there, in the words of who made it.
ALTER TABLE rules ADD COLUMN note TEXT;

-- The record of decisions is read newest first.
CREATE INDEX approvals_by_decision ON approvals (json_extract(decided, '$.at'), id) WHERE decided IS NOT NULL;

-- From journals: what an agent last said of itself, by name: its commands, its models.
CREATE TABLE told (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;

-- How sessions are to begin, by a name.
CREATE TABLE templates (
    name  TEXT PRIMARY KEY,
    at    INTEGER NOT NULL,
    by    TEXT NOT NULL,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Comments on lines of a plan that are not sent yet.
CREATE TABLE drafts (
    approval TEXT PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
    at       INTEGER NOT NULL,
    by       TEXT NOT NULL,
    value    TEXT NOT NULL
) WITHOUT ROWID;
