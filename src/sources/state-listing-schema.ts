/** The tables that lists and statistics are answered from: derived from recordings and bills, as these are from logs. */

export const LISTING_SCHEMA = `
-- A row for each of sessions. Names are in lower case, several of them as a JSON list. usd: as cost> compares it. is_cut: there
-- are more files, tools or sources than are named. joined: several recordings add up to it. mark: what it was made of.
CREATE TABLE listing (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, id TEXT NOT NULL, started_at TEXT, last_at TEXT, status TEXT NOT NULL,
  title TEXT, prompt TEXT, agents TEXT NOT NULL, models TEXT NOT NULL, sources TEXT NOT NULL, tools TEXT NOT NULL,
  parts TEXT NOT NULL, project TEXT, branch TEXT, run TEXT, flow TEXT, step TEXT,
  entries INTEGER NOT NULL, tool_calls INTEGER NOT NULL, failed INTEGER NOT NULL, errors INTEGER NOT NULL,
  touched INTEGER NOT NULL, repeats INTEGER NOT NULL, rereads INTEGER NOT NULL, is_cut INTEGER NOT NULL,
  calls INTEGER NOT NULL, uncounted INTEGER NOT NULL,
  input INTEGER, cache_read INTEGER, cache_write_5m INTEGER, cache_write_1h INTEGER, output INTEGER, reasoning INTEGER,
  joined INTEGER NOT NULL, quality INTEGER, tokens INTEGER, pico INTEGER, usd REAL, unpriced TEXT, duration_ms INTEGER,
  mark TEXT NOT NULL
);
CREATE INDEX listing_started ON listing (started_at);

-- What only a question about it needs. files: by path the ways in which it was touched.
CREATE TABLE listing_work (n INTEGER PRIMARY KEY, files TEXT NOT NULL, activity TEXT);

-- Each tool call once in the whole archive: with the session that pays for the provider call that it is of.
CREATE TABLE tool_use (
  tool TEXT NOT NULL, session INTEGER NOT NULL, calls INTEGER NOT NULL, failed INTEGER NOT NULL, ms INTEGER NOT NULL,
  timed INTEGER NOT NULL, repeats INTEGER NOT NULL, rereads INTEGER NOT NULL, PRIMARY KEY (tool, session)
) WITHOUT ROWID;
CREATE INDEX tool_use_session ON tool_use (session);

-- What a session did in vain, with the entries that show it.
CREATE TABLE findings (session INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, finding TEXT NOT NULL);
CREATE INDEX findings_session ON findings (session);
CREATE INDEX findings_count ON findings (kind, count);
`
