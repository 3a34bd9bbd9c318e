import type { Call } from '#lib/call/call';
import type { PublishedEvent } from '#lib/call/call-event';
import { boundCard, cutLarge } from '#lib/call/merge-card';
import { toRecord } from '#lib/call/view';
import type { ListedCall, WireCallEvent } from '#lib/protocol/call-record';

/** `isForPeople`: with the tokens and addresses of those who acted. */
export const toWireEvent = (
  { version, type, at, actor, via, attempt, update }: PublishedEvent,
  isForPeople: boolean,
): WireCallEvent => ({
  version,
  type,
  at: at / 1_000,
  actor,
  attempt,
  update,
  ...(via && isForPeople ? { via: { token_id: via.tokenId, address: via.address } } : {}),
});

/** A list may be asked to hold these whole. */
export type Included = 'args' | 'result';

/** A call as a list has it: of what is over the limit, and was not asked for, the beginning. */
function toListedCall(call: Call, include: readonly Included[]): ListedCall {
  const wire = { ...toRecord(call), card: boundCard(call.card) };
  const listed: ListedCall = include.includes('args') ? wire : withShortArgs(wire);
  return include.includes('result') ? listed : withShortResults(listed);
}

function withShortArgs(call: ListedCall): ListedCall {
  if (!cutLarge(call.args)) return call;
  // The card shows the same arguments, and has cut them already.
  const { params = {}, params_bytes } = boundCard({ params: call.args });
  return { ...call, args: params, args_bytes: params_bytes ?? 0, truncated: true };
}

/** All that a tool gave: to the model, and to people. */
function withShortResults(call: ListedCall): ListedCall {
  const short = { ...call };
  for (const name of ['result', 'display', 'preview', 'late_result'] as const) {
    const cut = cutLarge(call[name]);
    if (!cut) continue;
    short[name] = cut.preview;
    short[`${name}_bytes`] = cut.bytes;
    short.truncated = true;
  }
  return short;
}

/** A page of the list (contract, section 6). */
export const PAGE_BYTES = 4 * 1024 * 1024;
/** The values behind a page of previews: to be cut, each whole has to be read first. */
const READ_BYTES = 16 * 1024 * 1024;

/**
 * Takes calls into a page as long as they fit; the first one always does, or
 * the list would end there.
 */
export function createListPage(include: readonly Included[]) {
  const calls: ListedCall[] = [];
  let bytes = 0;
  let bytesRead = 0;
  return {
    calls,
    /** The bytes of all calls that were looked at. */
    get bytesRead() {
      return bytesRead;
    },
    takes(call: Call): boolean {
      const listed = toListedCall(call, include);
      const size = Buffer.byteLength(JSON.stringify(listed)) + 1;
      bytes += size;
      bytesRead += size + bytesCutOff(listed);
      const fits = calls.length === 0 || (bytes <= PAGE_BYTES && bytesRead <= READ_BYTES);
      if (fits) calls.push(listed);
      return fits;
    },
  };
}

const bytesCutOff = (call: ListedCall): number =>
  (call.args_bytes ?? 0) +
  (call.result_bytes ?? 0) +
  (call.display_bytes ?? 0) +
  (call.preview_bytes ?? 0) +
  (call.late_result_bytes ?? 0);
