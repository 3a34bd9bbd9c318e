import { fitsJson, wholeBytes } from '#lib/json/cut-json';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { ApprovalListing, ClientListing } from '#lib/protocol/watch-messages';
import { type Fitted, fitIntoRoom } from './fit-into-room.ts';

/** A larger schema is left out of what watchers are sent: `GET /api/tools` has it. */
const SCHEMA_BYTES = 4 * 1024;
/** Of the texts of all. */
const TOOLS_BYTES = 256 * 1024;
/** Up to here tools come with their schemas. */
const WITH_SCHEMAS_BYTES = 192 * 1024;
const TOOLS_ROOM = { withSchemas: WITH_SCHEMAS_BYTES, upTo: TOOLS_BYTES };
const CLIENTS_BYTES = 128 * 1024;
/** Of each tool in what watchers are sent: `GET /api/tools` has all that offer it. */
export const MOST_CLIENTS_OF_TOOL = 64;
const APPROVALS_BYTES = 64 * 1024;

/** The tools as watchers are sent them (rule WA12). */
export const boundTools = (
  tools: readonly ToolListing[],
  { withSchemas, upTo } = TOOLS_ROOM,
): Fitted<ToolListing> =>
  fitIntoRoom(tools, [
    { show: withSmallSchema, upTo: withSchemas },
    { show: withoutSchema, upTo },
  ]);

export const boundClients = (
  clients: readonly ClientListing[],
  upTo = CLIENTS_BYTES,
): Fitted<ClientListing> => fitIntoRoom(clients, [{ show: (client) => client, upTo }]);

/** Oldest first: that one runs out first. */
export const boundApprovals = (
  approvals: readonly ApprovalListing[],
  upTo = APPROVALS_BYTES,
): Fitted<ApprovalListing> => fitIntoRoom(approvals, [{ show: (approval) => approval, upTo }]);

const withSmallSchema = (tool: ToolListing): ToolListing =>
  fitsJson(tool.schema, SCHEMA_BYTES) ? tool : withoutSchema(tool);

const withoutSchema = (tool: ToolListing): ToolListing => ({
  ...tool,
  schema: {},
  schema_bytes: schemaBytes(tool.schema),
});

/** Of schemas, which do not change: 256 of 60 kB are measured once. */
const measured = new WeakMap<object, number>();

function schemaBytes(schema: ToolListing['schema']): number {
  const bytes = measured.get(schema) ?? wholeBytes(schema);
  measured.set(schema, bytes);
  return bytes;
}
