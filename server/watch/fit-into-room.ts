import { summaryOfCard } from '#lib/call/merge-card';
import { wholeBytes } from '#lib/json/cut-json';
import { fitsJson } from '#lib/json/measure-json';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { ApprovalListing, ClientListing, Snapshot } from '#lib/protocol/watch-messages';
import type { ShownCall } from '../calls/room.ts';

/** One way to show an item; it is used as long as all together stay within `upTo` bytes. */
export interface Form<T, Shown> {
  show(item: T): Shown;
  readonly upTo: number;
}

export interface Fitted<Shown> {
  /** In the order in which the items were given. */
  readonly shown: readonly { readonly value: Shown; readonly json: string }[];
  /** The bytes of the JSON texts, with a comma for each. */
  readonly bytes: number;
  readonly leftOut: number;
  /** Each is shown in the first form. */
  readonly isWhole: boolean;
}

/**
 * It takes as many items as there is room for, first ones first: each in the first of the
 * forms that still has room, and once a form is full it stays so. A last form
 * that has no room leaves the item out, and all that follow it.
 */
export function fitIntoRoom<T, Shown>(
  items: readonly T[],
  forms: readonly Form<T, Shown>[],
): Fitted<Shown> {
  const shown: { value: Shown; json: string }[] = [];
  let bytes = 0;
  let current = 0;
  for (const item of items) {
    for (let form = forms[current]; form; form = forms[current]) {
      const value = form.show(item);
      const json = JSON.stringify(value);
      const size = Buffer.byteLength(json) + 1;
      if (bytes + size <= form.upTo) {
        shown.push({ value, json });
        bytes += size;
        break;
      }
      current += 1;
    }
    if (current >= forms.length) break;
  }
  return { shown, bytes, leftOut: items.length - shown.length, isWhole: current === 0 };
}

export type WatchedCall = Snapshot['calls'][number];

/** Each value of a call has so much where there is hardly any room. */
const LEAST_BYTES = 100;

export const asWhole = ({ id, runId, card }: ShownCall): WatchedCall => toWatched(id, runId, card);

export const asSummary = ({ id, runId, card }: ShownCall): WatchedCall =>
  toWatched(id, runId, summaryOf(card));

/** Little more than its name and its state. */
export const asLeast = ({ id, runId, card }: ShownCall): WatchedCall =>
  toWatched(id, runId, summaryOfCard(summaryOf(card), LEAST_BYTES));

/** Whole cards, then summaries, then the least. */
export const formsWithin = (
  room: number,
  wholeBytes = room / 4,
): readonly Form<ShownCall, WatchedCall>[] => [
  { show: asWhole, upTo: wholeBytes },
  { show: asSummary, upTo: (room / 4) * 3 },
  { show: asLeast, upTo: room },
];

const toWatched = (id: string, runId: string, card: WatchedCall['card']): WatchedCall => ({
  tool_call_id: id,
  run_id: runId,
  card,
});

/** Cards do not change: the summary of one is made once. */
const summaries = new WeakMap<ShownCall['card'], ShownCall['card']>();

function summaryOf(card: ShownCall['card']): ShownCall['card'] {
  const summary = summaries.get(card) ?? summaryOfCard(card);
  summaries.set(card, summary);
  return summary;
}

/** A larger schema is left out of what watchers are sent: `GET /api/tools` has it. */
const SCHEMA_BYTES = 4 * 1024;
/** The texts of all tools together have no more. */
const TOOLS_BYTES = 256 * 1024;
/** Up to here tools come with their schemas. */
const WITH_SCHEMAS_BYTES = 192 * 1024;
const TOOLS_ROOM = { withSchemas: WITH_SCHEMAS_BYTES, upTo: TOOLS_BYTES };
const CLIENTS_BYTES = 128 * 1024;
/** Watchers are sent so many clients of a tool: `GET /api/tools` has all that offer it. */
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

/** Schemas do not change: 256 of 60 kB are measured once. */
const measured = new WeakMap<object, number>();

function schemaBytes(schema: ToolListing['schema']): number {
  const bytes = measured.get(schema) ?? wholeBytes(schema);
  measured.set(schema, bytes);
  return bytes;
}
