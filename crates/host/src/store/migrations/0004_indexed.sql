-- From journals: how far a session is indexed. Pages of transcripts had the same name on the shelf, and each took away what the
-- other had put there: what a session had spent was then added again.
CREATE TABLE indexed (
    session    TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    checkpoint BLOB NOT NULL
) WITHOUT ROWID;

-- A checkpoint is kept where the counts by day are those of the session. Of every other session the journal is read again.
INSERT INTO indexed (session, checkpoint)
    SELECT shelf.session, shelf.value FROM shelf JOIN totals ON totals.session = shelf.session
    LEFT JOIN (
        SELECT session, sum(cost_usd) AS cost_usd, sum(input_tokens) AS input, sum(output_tokens) AS output, sum(turns) AS turns
        FROM usage GROUP BY session
    ) AS spent ON spent.session = shelf.session
    WHERE shelf.name = 'index' AND json_valid(CAST(shelf.value AS TEXT))
    AND json_type(CAST(shelf.value AS TEXT), '$.checkpoint') = 'object'
    AND abs(coalesce(spent.cost_usd, 0) - json_extract(totals.totals, '$.cost_usd')) < 0.000001
    AND coalesce(spent.input, 0) = json_extract(totals.totals, '$.tokens.input')
    AND coalesce(spent.output, 0) = json_extract(totals.totals, '$.tokens.output')
    AND coalesce(spent.turns, 0) <= json_extract(totals.totals, '$.turns.succeeded')
        + json_extract(totals.totals, '$.turns.failed') + json_extract(totals.totals, '$.turns.interrupted')
        + json_extract(totals.totals, '$.turns.lost');

DELETE FROM shelf WHERE name = 'index';
