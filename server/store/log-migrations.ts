import { moveCalls } from './before-log/move-calls.ts';
import type { Migration } from './migrate.ts';

/** The steps by which the log became all that is stored of a call. */
export const LOG_MIGRATIONS: readonly Migration[] = [
  {
    // The calls in the tables of before go to the log between this and the next: see before-log/.
    name: '021_log',
    sql: `
CREATE TABLE log ( -- what happened to calls: the truth. A call is what its rows come to, one after the other
  seq INTEGER PRIMARY KEY, -- rises; rows are added, and deleted with their call, and never changed
  call_id TEXT NOT NULL,
  version INTEGER NOT NULL, -- of the first event of the row
  ends INTEGER NOT NULL, -- 1: after it the call has ended
  events TEXT NOT NULL, -- JSON: a list of events, in their order
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX log_of_call ON log (call_id, version); -- of two who decide on one version the second is refused
CREATE TABLE open_calls ( -- those that had not ended at the position that is applied
  call_id TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE calls ( -- ended calls, as lists look for them: made from the log, and again when it is lost; times are milliseconds since the epoch
  call_no INTEGER PRIMARY KEY, -- rises in the order in which calls were first written
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  source TEXT NOT NULL,
  status INTEGER NOT NULL, -- 2 SUCCEEDED, 3 FAILED, 4 TIMEOUT
  code TEXT, -- of its error
  client_code TEXT, -- the tool's own word for it
  message TEXT, -- its beginning
  requested_by TEXT NOT NULL, -- operator, agent:<name>, run:<run id>
  owner_token TEXT, -- of the owner of its run
  client_id TEXT, -- who ran it, else the only one that might take it
  via TEXT, -- mcp; null: as requested_by says
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER NOT NULL,
  waited_ms INTEGER NOT NULL, -- for people
  bytes INTEGER NOT NULL, -- of its rows in the log
  result_bytes INTEGER NOT NULL,
  decision TEXT, -- yes, no, always, answer
  decided_by TEXT,
  marks INTEGER NOT NULL -- 1 a retry, 2 answered late, 4 made by a call, 8 repaired, 16 changed by a hook, 32 untrusted, 64 has a picture, 128 has a file, 256 arguments edited
);
CREATE INDEX calls_by_run ON calls (run_id);
CREATE INDEX calls_by_tool ON calls (tool_name);
CREATE INDEX calls_by_status ON calls (status);
CREATE INDEX calls_by_client ON calls (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX calls_by_owner ON calls (owner_token) WHERE owner_token IS NOT NULL;
CREATE INDEX calls_by_end ON calls (ended_at);
CREATE INDEX runs_by_parent ON runs (parent ->> '$.run_id') WHERE parent IS NOT NULL;
DROP INDEX tool_calls_by_age;
DROP INDEX tool_calls_by_run;
DROP INDEX tool_calls_by_status;
DROP INDEX tool_calls_by_tool;
DROP INDEX tool_calls_by_client;
DROP INDEX tool_calls_by_end;
DROP INDEX tool_calls_by_owner;
INSERT INTO meta (key, value) VALUES ('applied', 0); -- the position of the log up to which calls and words are made
`,
  },
  {
    name: '022_log_alone',
    move: moveCalls,
    sql: `
DROP TABLE tool_calls;
DROP TABLE call_events;
DROP TABLE calls_to_index;
`,
  },
];
