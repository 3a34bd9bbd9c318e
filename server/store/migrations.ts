import { FILL_BLOB_USES } from './blob-ids.ts';
import { LOG_MIGRATIONS } from './log-migrations.ts';
import type { Migration } from './migrate.ts';

/**
 * In the order in which they run. The comments stay in the file: a person who opens
 * it with a SQL tool finds them in `sqlite_schema`.
 *
 * There are no foreign keys: the store does not know what a change means, and a
 * reference that is missing must not stop a write. A new column is null in the rows that are there.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: '001_first',
    sql: `
CREATE TABLE tool_calls ( -- one call of a tool; times are milliseconds since the epoch
  row_no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  source TEXT NOT NULL, -- server, client
  status TEXT NOT NULL, -- PENDING, RUNNING, SUCCEEDED, FAILED, TIMEOUT
  phase TEXT, -- null once final
  requested_by TEXT NOT NULL, -- operator, agent:<name>, run:<run id>
  client_id TEXT, -- who runs it, or ran it
  instance_id TEXT,
  attempt INTEGER,
  client_claims INTEGER,
  journal_epoch TEXT,
  wanted_client_id TEXT, -- the only client that may take it
  granted INTEGER NOT NULL,
  retry_of TEXT,
  timeout_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  queued_at INTEGER,
  offered_at INTEGER,
  started_at INTEGER,
  completed_at INTEGER,
  deadlines TEXT NOT NULL, -- JSON: when each running clock ends
  execute_left_ms INTEGER,
  annotations TEXT NOT NULL, -- JSON
  result_hash TEXT,
  error TEXT, -- JSON: code, message, executed
  attachments TEXT NOT NULL, -- JSON
  args TEXT NOT NULL, -- JSON
  result TEXT, -- JSON; SQL null while there is none, the text null when it is null
  late_result TEXT, -- JSON
  card TEXT NOT NULL, -- JSON, without what card_shows says
  card_shows INTEGER NOT NULL -- 1: args are the card's params, 2: result is the card's result
);
CREATE INDEX tool_calls_by_age ON tool_calls (created_at, id);
CREATE INDEX tool_calls_by_run ON tool_calls (run_id, created_at, id);
CREATE INDEX tool_calls_open ON tool_calls (created_at) WHERE status IN ('PENDING', 'RUNNING');

CREATE TABLE calls_to_index ( -- final calls whose words are not in tool_call_text yet
  call_id TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE VIRTUAL TABLE tool_call_text USING fts5( -- rowid is tool_calls.row_no
  tool_name, args, result, error, content='', contentless_delete=1
);

CREATE TABLE idempotency (
  scope TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  call_id TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs ( -- one conversation; times are milliseconds since the epoch
  run_id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL, -- idle, running, failed, cancelled
  model TEXT,
  tools TEXT, -- JSON; null for all
  step INTEGER NOT NULL,
  max_steps INTEGER NOT NULL,
  error TEXT, -- JSON
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX runs_by_age ON runs (updated_at, run_id);

CREATE TABLE messages (
  message_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL, -- user, assistant
  status TEXT NOT NULL, -- streaming, done
  parts TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL
);
CREATE INDEX messages_of_run ON messages (run_id, position);

CREATE TABLE clients (
  client_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- tab, phone, program
  journal_epoch TEXT,
  resume_token_hash TEXT NOT NULL,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (client_id, instance_id)
) WITHOUT ROWID;

CREATE TABLE sessions (
  id_hash TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`,
  },
  {
    // Found by `row_checksum`, which is ours: see row-checksum.ts.
    name: '002_checksums',
    sql: `
ALTER TABLE tool_calls ADD COLUMN fixed_checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tool_calls ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE tool_calls SET
  fixed_checksum = row_checksum(id, run_id, tool_name, source, requested_by, wanted_client_id,
    retry_of, created_at, annotations, args),
  checksum = row_checksum(id, status, phase, client_id, instance_id, attempt, client_claims,
    journal_epoch, granted, timeout_ms, queued_at, offered_at, started_at, completed_at, deadlines,
    execute_left_ms, result_hash, error, attachments, result, late_result, card, card_shows);

ALTER TABLE idempotency ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE idempotency SET checksum = row_checksum(scope, fingerprint, call_id);

ALTER TABLE runs ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET checksum = row_checksum(run_id, title, status, model, tools, step, max_steps, error,
  created_at, updated_at);

ALTER TABLE messages ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE messages SET checksum = row_checksum(message_id, run_id, position, role, status, parts,
  created_at);

ALTER TABLE clients ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE clients SET checksum = row_checksum(client_id, instance_id, name, kind, journal_epoch,
  resume_token_hash, last_seen_at);

ALTER TABLE sessions ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET checksum = row_checksum(id_hash, created_at, expires_at);

INSERT INTO meta (key, value) VALUES ('commits', 0);
`,
  },
  {
    // Each filter of a list has an index in the order of the list. That of the status serves the
    // open calls too.
    name: '003_lists',
    sql: `
DROP INDEX tool_calls_open;
CREATE INDEX tool_calls_by_status ON tool_calls (status, created_at, id);
CREATE INDEX tool_calls_by_tool ON tool_calls (tool_name, created_at, id);
CREATE INDEX tool_calls_by_client -- the client that has the call, else the only one that may take it
  ON tool_calls (coalesce(client_id, wanted_client_id), created_at, id)
  WHERE coalesce(client_id, wanted_client_id) IS NOT NULL;
`,
  },
  {
    // The new columns are null in the rows that are there, whose checksums stay as they are: a
    // checksum ends with the last value that is not null. So no row is written.
    name: '004_events',
    sql: `
ALTER TABLE tool_calls ADD COLUMN version INTEGER; -- of the newest event; null or 0: no events were kept
ALTER TABLE tool_calls ADD COLUMN tool_provider TEXT; -- server, clients
ALTER TABLE tool_calls ADD COLUMN parent_call_id TEXT; -- the call whose tool made this one
ALTER TABLE tool_calls ADD COLUMN depth INTEGER; -- how many calls stand above it
ALTER TABLE tool_calls ADD COLUMN routing TEXT; -- JSON
ALTER TABLE tool_calls ADD COLUMN device_left_ms INTEGER;
ALTER TABLE tool_calls ADD COLUMN display TEXT; -- JSON: what people are shown in place of the result
ALTER TABLE tool_calls ADD COLUMN preview TEXT; -- JSON

CREATE TABLE call_events ( -- what happened to a call
  row_no INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  version INTEGER NOT NULL, -- of the first event of the row
  events TEXT NOT NULL, -- JSON: a list of events, in their order
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX call_events_of_call ON call_events (call_id, version);
`,
  },
  {
    name: '005_model_turns',
    sql: `
CREATE TABLE model_turns ( -- one request to a model; times are milliseconds since the epoch
  run_id TEXT NOT NULL, -- of runs; all of a run go with it: DELETE ... WHERE run_id = ?
  number INTEGER NOT NULL, -- in the order of the requests of the run, from 1
  message_id TEXT NOT NULL, -- the message that the answer went to; not there if the server ended before it did
  turn INTEGER NOT NULL, -- which of the person's messages began it, from 1
  step INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  model TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  first_token_at INTEGER,
  ended_at INTEGER, -- null while it runs, and for ever where the server ended first
  finish_reason TEXT,
  error_code TEXT,
  usage TEXT NOT NULL, -- JSON: tokens as the provider counts them
  tools_offered INTEGER NOT NULL,
  tools_sha256 TEXT,
  prompt_sha256 TEXT NOT NULL,
  rendering INTEGER NOT NULL, -- version of the rules that make a record the text of a result
  sent TEXT NOT NULL, -- JSON: results that were new in this request, by call, with their hashes
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run_id, number)
);
`,
  },
  {
    name: '006_kept',
    sql: `
CREATE TABLE kept ( -- small values that outlive the server, beside calls, runs and clients
  area TEXT NOT NULL, -- always: what operators allow for good; breaker: clients that do not deliver
  key TEXT NOT NULL,
  value TEXT NOT NULL, -- JSON
  put_at INTEGER NOT NULL, -- milliseconds since the epoch
  checksum INTEGER NOT NULL,
  PRIMARY KEY (area, key)
) WITHOUT ROWID;
`,
  },
  {
    // Retention and a start ask for these: see retention.ts.
    name: '007_retention',
    sql: `
CREATE INDEX tool_calls_by_end -- final calls, those that ended first at the beginning
  ON tool_calls (coalesce(completed_at, created_at), id) WHERE status NOT IN ('PENDING', 'RUNNING');
CREATE INDEX idempotency_of_call ON idempotency (call_id);
CREATE INDEX runs_running ON runs (updated_at, run_id) WHERE status = 'running';
CREATE TABLE blob_uses ( -- what refers to a blob: final calls whose words are indexed, and messages
  blob_id TEXT NOT NULL,
  user_id TEXT NOT NULL, -- of a call or a message
  PRIMARY KEY (blob_id, user_id)
) WITHOUT ROWID;
CREATE INDEX blob_uses_of_user ON blob_uses (user_id);
${FILL_BLOB_USES}`,
  },
  {
    name: '008_tokens',
    sql: `
CREATE TABLE tokens ( -- who may ask, beside the operator of the first run
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL, -- SHA-256 of the secret, hex: a copy of the database opens nothing
  kind TEXT NOT NULL, -- operator, agent, device
  name TEXT NOT NULL, -- one live token of a kind has it
  role TEXT, -- of an operator: viewer, operator, admin
  tools TEXT, -- JSON; of an agent: the tools that it may call, prefix.* for a family
  client_id TEXT, -- of a device
  created_at INTEGER NOT NULL, -- milliseconds since the epoch
  created_by TEXT NOT NULL,
  last_used_at INTEGER, -- to the minute
  revoked_at INTEGER,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_by_hash ON tokens (hash);
ALTER TABLE sessions ADD COLUMN token_id TEXT; -- null: of the token of the first run
CREATE INDEX sessions_of_token ON sessions (token_id) WHERE token_id IS NOT NULL;
`,
  },
  {
    // Null in the rows that are there, which are all the first operator's: no row is written.
    name: '009_owners',
    sql: `
ALTER TABLE runs ADD COLUMN owner TEXT; -- JSON: name, token_id; null: the operator of the first run
CREATE INDEX runs_by_owner ON runs (owner ->> '$.token_id', updated_at, run_id)
  WHERE owner IS NOT NULL;
ALTER TABLE tool_calls ADD COLUMN owner_token TEXT; -- of the owner of its run
CREATE INDEX tool_calls_by_owner ON tool_calls (owner_token, created_at, id)
  WHERE owner_token IS NOT NULL;
`,
  },
  {
    name: '010_audit',
    sql: `
CREATE TABLE audit ( -- what people did, in order; rows are added, and deleted when they are too old
  row_no INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL, -- milliseconds since the epoch
  actor TEXT NOT NULL,
  token_id TEXT, -- null: the token of the first run
  address TEXT NOT NULL, -- of the peer
  act TEXT NOT NULL,
  target TEXT, -- the id of what it was done to
  detail TEXT NOT NULL, -- JSON; no secrets
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX audit_by_seq ON audit (seq);
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_actor ON audit (actor, seq);
CREATE INDEX audit_by_act ON audit (act, seq);
CREATE INDEX audit_by_both ON audit (actor, act, seq);
`,
  },
  {
    name: '011_memories',
    sql: `
CREATE TABLE memories ( -- what memory.store noted
  row_no INTEGER PRIMARY KEY,
  owner TEXT NOT NULL, -- id of a token; empty: the operator of the first run
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL, -- of key and text, as the index takes them
  put_at INTEGER NOT NULL, -- milliseconds since the epoch
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX memories_by_key ON memories (owner, key);
CREATE INDEX memories_by_time ON memories (owner, put_at);
CREATE VIRTUAL TABLE memory_text USING fts5(words, content='memories', content_rowid='row_no');
CREATE TRIGGER memory_put AFTER INSERT ON memories BEGIN
  INSERT INTO memory_text (rowid, words) VALUES (new.row_no, new.words);
END;
CREATE TRIGGER memory_deleted AFTER DELETE ON memories BEGIN
  INSERT INTO memory_text (memory_text, rowid, words) VALUES ('delete', old.row_no, old.words);
END;
CREATE TRIGGER memory_replaced AFTER UPDATE ON memories BEGIN
  INSERT INTO memory_text (memory_text, rowid, words) VALUES ('delete', old.row_no, old.words);
  INSERT INTO memory_text (rowid, words) VALUES (new.row_no, new.words);
END;
`,
  },
  {
    name: '012_sub_agents',
    sql: `
ALTER TABLE runs ADD COLUMN parent TEXT; -- JSON: run_id, call_id, agent, depth; null: no sub-agent's
`,
  },
  {
    name: '013_trusted',
    sql: `
ALTER TABLE tool_calls ADD COLUMN trusted INTEGER; -- 0 or 1; null: 1 where source is 'server'
`,
  },
  {
    name: '014_pinned_tools',
    sql: `
ALTER TABLE runs ADD COLUMN pinned_tools TEXT; -- JSON: names; null: none
`,
  },
  {
    name: '015_untrusted_memories',
    sql: `
ALTER TABLE memories ADD COLUMN untrusted TEXT; -- the tool by which content of others was read before; empty: none; null: not known
`,
  },
  {
    name: '016_client_owners',
    sql: `
ALTER TABLE clients ADD COLUMN owner TEXT; -- whose the client is: id of a token, operator, device:<client>; null: of before
`,
  },
  {
    name: '017_traces',
    sql: `
ALTER TABLE tool_calls ADD COLUMN traceparent TEXT; -- what its span stands below; null: nothing came in with it
ALTER TABLE runs ADD COLUMN trace TEXT; -- JSON: span, parent, started_at of the turn that runs; null: none, or not traced
`,
  },
  {
    name: '018_outbox',
    sql: `
CREATE TABLE deliveries ( -- notices on their way to targets outside; times are milliseconds since the epoch
  id TEXT PRIMARY KEY, -- in the order of time
  target TEXT NOT NULL, -- kind:name, as the configuration has it
  notice TEXT NOT NULL, -- JSON: id, type, at, data; no arguments and no results
  state TEXT NOT NULL, -- open, delivered, failed, dropped, obsolete, removed
  attempts INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  tried_at INTEGER,
  next_at INTEGER, -- null once it is not open
  ended_at INTEGER, -- null while it is open
  status INTEGER, -- of HTTP, of the last attempt
  error TEXT, -- why the last attempt failed
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX deliveries_open ON deliveries (id) WHERE ended_at IS NULL;
CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
`,
  },
  {
    name: '019_model_call_id',
    sql: `
ALTER TABLE tool_calls ADD COLUMN model_call_id TEXT; -- the id by which the model knows it; null: it gave none
`,
  },
  {
    name: '020_run_settings',
    sql: `
ALTER TABLE runs ADD COLUMN settings TEXT; -- JSON: instructions, temperature, reasoning_effort; null: none
`,
  },
  ...LOG_MIGRATIONS,
];
