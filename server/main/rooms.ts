// biome-ignore-all assist/source/organizeImports: the order says who may use whom.

/**
 * The rooms of the server, in order: each imports itself, `lib`, the ground (`server/base`) and the
 * doors of those above it, which `e2e/repository/architecture.test.ts` holds. A new room is one line.
 */
export * as store from '../store/room.ts';
export * as auth from '../auth/room.ts';
export * as blobs from '../blobs/room.ts';
export * as events from '../events/room.ts';
export * as tools from '../tools/room.ts';
export * as telemetry from '../telemetry/room.ts';
export * as notices from '../notices/room.ts';
export * as secrets from '../secrets/room.ts';
export * as approvals from '../approvals/room.ts';
export * as calls from '../calls/room.ts';
export * as rehearsal from '../rehearsal/room.ts';
export * as runs from '../runs/room.ts';
export * as waysIn from '../doors/room.ts';
export * as agUi from '../doors/ag-ui/room.ts';
export * as sockets from '../sockets/room.ts';
export * as clients from '../clients/room.ts';
export * as mcp from '../doors/mcp/room.ts';
export * as mcpClient from '../mcp-client/room.ts';
export * as openai from '../doors/openai/room.ts';
export * as policy from '../policy/room.ts';
export * as http from '../http/room.ts';
export * as clawseed from '../doors/clawseed/room.ts';
export * as history from '../history/room.ts';
export * as tls from '../tls/room.ts';
export * as watch from '../watch/room.ts';
