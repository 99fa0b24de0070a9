-- The entries. Rows are appended at the end and removed at the beginning (with a checkpoint). They are never changed,
-- except that `forget` empties body and salt (with a tombstone).
CREATE TABLE entries (
  seq      INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  exec_id  TEXT,
  session  TEXT,
  carried  INTEGER,
  salt     BLOB,
  body     TEXT,
  digest   BLOB NOT NULL,
  previous BLOB NOT NULL,
  hash     BLOB NOT NULL
) STRICT;
CREATE INDEX entries_exec ON entries (exec_id) WHERE exec_id IS NOT NULL;

-- The tables below are derived from `entries`, and `verify` compares them with it.

CREATE TABLE head (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  seq  INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;
INSERT INTO head VALUES (1, 0, zeroblob(32));

CREATE TABLE executions (
  id      TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  status  TEXT NOT NULL,
  last    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_open ON executions (id) WHERE status IN ('asked', 'running');

CREATE TABLE questions (
  id      INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  exec_id TEXT NOT NULL,
  answer  INTEGER
) STRICT;
CREATE INDEX questions_exec ON questions (exec_id);
CREATE INDEX questions_open ON questions (id) WHERE answer IS NULL;

CREATE TABLE grants (
  seq     INTEGER PRIMARY KEY,
  session TEXT NOT NULL
) STRICT;
CREATE INDEX grants_session ON grants (session);

CREATE TABLE trusted (
  path   TEXT NOT NULL,
  sha256 BLOB NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (path, sha256)
) STRICT, WITHOUT ROWID;
