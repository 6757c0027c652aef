-- A plan that is presented again with the same text is the same version, asked about by another approval.
CREATE TABLE presented (
    session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    approval TEXT NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (session, approval)
);

INSERT INTO presented (session, approval, number, at)
    SELECT session, approval, min(number), at FROM plans WHERE approval IS NOT NULL GROUP BY session, approval;
