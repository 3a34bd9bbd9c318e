import { type Kysely, sql } from 'kysely';
import { POOL_SOURCE } from '#lib/protocol/tool-source';
import type { EndedUse, ToolUse } from './ended-use.ts';
import type { ReadThread } from './read-thread.ts';
import type { Tables } from './tables.ts';

export const createToolUse = (
  { rows }: Pick<ReadThread, 'rows'>,
  kysely: Kysely<Tables>,
): ToolUse => ({
  async recent({ ownerToken, limit }) {
    const query = ownerToken === undefined ? ofAll(limit) : ofOwner(ownerToken, limit);
    return (await rows(query.compile(kysely))).rows;
  },
});

/** All of them stand before the columns that may be large. */
const COLUMNS = sql`id, tool_name as toolName, client_id as clientId, status,
  started_at as startedAt, coalesce(completed_at, created_at) as endedAt,
  error ->> '$.code' as code, error ->> '$.client_code' as clientCode, substr(error ->> '$.message', 1, 300) as message`;

/** Not those that asked each client (`pool`): what they asked counts, each by itself. */
const ENDED = sql`status not in ('PENDING', 'RUNNING') and source is not ${POOL_SOURCE}`;

const ofAll = (limit: number) => sql<EndedUse>`
  select ${COLUMNS} from tool_calls indexed by tool_calls_by_end where ${ENDED}
  order by coalesce(completed_at, created_at) desc, id desc limit ${limit}`;

const ofOwner = (ownerToken: string, limit: number) => sql<EndedUse>`
  select ${COLUMNS} from tool_calls indexed by tool_calls_by_owner
  where owner_token = ${ownerToken} and ${ENDED} order by created_at desc, id desc limit ${limit}`;
