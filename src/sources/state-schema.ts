/** The tables of what sync knows. All of it is derived from kept files and sources: thrown away, it is built again. */

import { LISTING_SCHEMA } from './state-listing-schema.ts'

/** Raised with every change of the tables or of what is written in them: an older state is then built anew. */
export const STATE_VERSION = 28

/** How rows of calls are looked up. A state that is filled for the first time gets them when it is. */
export const CALLS_INDEXES = `CREATE UNIQUE INDEX calls_once ON calls (reading, session, key, provider);
CREATE INDEX calls_key ON calls (key) WHERE key IS NOT NULL;
CREATE INDEX calls_billed ON calls (billed_to) WHERE billed_to IS NOT NULL;`

export const SCHEMA = `${LISTING_SCHEMA}
-- A folder that is looked into. stamp: what tells that a repository is unchanged.
CREATE TABLE places (
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, root TEXT NOT NULL, stamp TEXT,
  UNIQUE (agent, root)
);

-- A source's file. stamp: device, inode, size and time of change when it was last looked at, '' when only its copy was;
-- +some behind it: a database that was asked for what was written since, of which not all may be kept.
-- pending: 1, it has changed since it was last taken in; 2, it was being taken in: whoever did so may have died half way.
-- problem: why it could not be taken in, or not all of it; reason: the same in words, where it is not tried again until it changes.
-- bytes: how many of it are kept; NULL for one that is read where it lies. Of one that is read before it is kept, both: pending, and NULL.
CREATE TABLE files (
  id INTEGER PRIMARY KEY, place INTEGER NOT NULL, path TEXT NOT NULL,
  stamp TEXT NOT NULL, size INTEGER NOT NULL, bytes INTEGER, tail TEXT,
  unit INTEGER, pending INTEGER NOT NULL, problem TEXT, reason TEXT,
  UNIQUE (place, path)
);
CREATE INDEX files_problem ON files (place) WHERE problem IS NOT NULL;
CREATE INDEX files_pending ON files (id) WHERE pending > 0;
CREATE INDEX files_unit ON files (unit);

-- Folders that could not be looked into when they last should have been, and why.
CREATE TABLE unseen (path TEXT PRIMARY KEY, problem TEXT NOT NULL) WITHOUT ROWID;

-- Files that lie together and were all found unchanged, by one digest over their names and stamps. One that is forgotten could come
-- back as it was.
CREATE TABLE stretches (place INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (place, digest)) WITHOUT ROWID;
CREATE TRIGGER files_forgotten AFTER DELETE ON files BEGIN DELETE FROM stretches WHERE place = OLD.place; END;

-- Files that are read together. reading: the last whole pass over them. extended: a later number, where what came to them was read
-- since and put to it. dirty: they have changed since.
CREATE TABLE units (
  id INTEGER PRIMARY KEY, place INTEGER NOT NULL, path TEXT NOT NULL,
  format TEXT, reading INTEGER, extended INTEGER, dirty INTEGER NOT NULL, damage INTEGER NOT NULL DEFAULT 0, problem TEXT,
  UNIQUE (place, path)
);
CREATE INDEX units_dirty ON units (id) WHERE dirty = 1;
CREATE INDEX units_reading ON units (reading);
CREATE INDEX units_extended ON units (extended) WHERE extended IS NOT NULL;

-- Passes that were begun and not ended: their rows are leftovers of a crash.
CREATE TABLE begun (reading INTEGER PRIMARY KEY);

-- What one pass over a unit said of a session. session: what all recordings of it share; id: what this one calls it. work: what it
-- did, as JSON. A table with row ids: where the key is the table, looking a row up reads what is in all rows on the way to it.
CREATE TABLE recordings (
  reading INTEGER NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL, format TEXT NOT NULL, facts TEXT NOT NULL,
  started_at TEXT, ended_at TEXT, parent TEXT,
  entries INTEGER NOT NULL, tool_calls INTEGER NOT NULL, prompt TEXT, work TEXT, chosen INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (reading, session)
);
CREATE INDEX recordings_session ON recordings (session);
CREATE INDEX recordings_id ON recordings (id);
CREATE INDEX recordings_ended ON recordings (ended_at);
CREATE INDEX recordings_own ON recordings (started_at) WHERE format = 'journal';

-- What one pass said of sessions that lie elsewhere. parent: the call that started it, as JSON.
CREATE TABLE mentions (
  reading INTEGER NOT NULL, session TEXT NOT NULL, title TEXT, parent TEXT, PRIMARY KEY (reading, session)
) WITHOUT ROWID;
CREATE INDEX mentions_session ON mentions (session);

-- Provider calls, each once for every session that mentions it. billed_to: of all rows of a call one has it, with the session
-- that pays. Counts are NULL when nobody said. tools: the names of those that it calls, as a JSON list;
-- work: what each of them did, in the same order.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY, reading INTEGER NOT NULL, session TEXT NOT NULL, key TEXT, provider TEXT NOT NULL,
  model TEXT, at TEXT,
  input INTEGER, cache_read INTEGER, cache_write_5m INTEGER, cache_write_1h INTEGER, output INTEGER, reasoning INTEGER,
  quality INTEGER NOT NULL, pico INTEGER, unpriced TEXT, billed_to TEXT, source TEXT, tools TEXT, work TEXT
);
${CALLS_INDEXES}
CREATE INDEX calls_without_cost ON calls (id) WHERE billed_to IS NOT NULL AND pico IS NULL;

-- Calls of a pass that are not rows yet, while the state is filled for the first time. first: the id of the first of them. calls: their
-- columns, as a JSON list: a list of the values of each, or the value that all share.
CREATE TABLE packed_calls (
  reading INTEGER PRIMARY KEY, first INTEGER NOT NULL, count INTEGER NOT NULL, calls TEXT NOT NULL
);

-- Billed calls added up, by who pays, half an hour and model: what cost is asked of. As right as calls when all is settled.
-- Priced calls, those of a model without a price, and those that nobody counted stand apart. micro: whole US dollars × 10⁻⁶ of
-- their cost, pico: the rest of it, × 10⁻¹², for no sum of them to be too large.
CREATE TABLE sums (
  billed_to TEXT NOT NULL, at TEXT, model TEXT, unpriced TEXT, calls INTEGER NOT NULL, uncounted INTEGER NOT NULL,
  input INTEGER, cache_read INTEGER, cache_write_5m INTEGER, cache_write_1h INTEGER, output INTEGER, reasoning INTEGER,
  quality INTEGER NOT NULL, micro INTEGER, pico INTEGER
);
CREATE INDEX sums_billed ON sums (billed_to);

-- Calls that have another name in another source, and were found to be the same by what they say. same: the name that they are billed by,
-- or the call's own for one that only this source of its session saw. replayed: the answer came from a recording, and nobody pays.
CREATE TABLE same_calls (key TEXT PRIMARY KEY, same TEXT NOT NULL, replayed INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX same_calls_same ON same_calls (same);

-- What has to be settled anew before totals are right: calls that several recordings mention, and sessions whose recordings changed.
CREATE TABLE stale_calls (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE stale_sessions (key TEXT PRIMARY KEY) WITHOUT ROWID;

-- What list shows: every session once, with the totals of its best recording. key: as in recordings; id: as people know it.
-- root: of the place whose recording says the rest. With row ids, as recordings; n: another one, higher than any before, whenever the row is written.
CREATE TABLE sessions (
  n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, id TEXT NOT NULL, started_at TEXT, status TEXT, flow TEXT, run TEXT, root TEXT, cwd TEXT, session TEXT NOT NULL
);
CREATE INDEX sessions_started ON sessions (started_at);
CREATE INDEX sessions_id ON sessions (id);
CREATE INDEX sessions_running ON sessions (key) WHERE status = 'running';
CREATE INDEX sessions_cwd ON sessions (root, cwd) WHERE cwd IS NOT NULL;

-- Files that this program wrote beside its journals: they say nothing that the journal does not. Several may have had one name in turn.
CREATE TABLE own_files (path TEXT NOT NULL, unit INTEGER NOT NULL, PRIMARY KEY (path, unit)) WITHOUT ROWID;
CREATE INDEX own_files_unit ON own_files (unit);

-- What readers had not seen before, by the agent's version.
CREATE TABLE drift (
  reading INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (reading, kind, name, version)
) WITHOUT ROWID;

-- adopted: all that was kept before is known. loading: 1, calls have no indexes yet, and those that several passes mention are not in question; packed, some are not rows yet. same: up to which pass, and which replayed answer, same_calls was made. born: tells this state from others. program: the version that read last. reading: the number of the last pass.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`
