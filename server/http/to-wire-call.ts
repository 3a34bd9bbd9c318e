import { boundCard, cutLarge } from '#lib/call/bound-card';
import type { Call } from '#lib/call/call';
import type { PublishedEvent } from '#lib/call/call-event';
import { toRecord } from '#lib/call/to-record';
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

/** What a list may be asked to hold whole. */
export type Included = 'args' | 'result';

/** A call as a list has it: of what is over the limit, and was not asked for, the beginning. */
export function toListedCall(call: Call, include: readonly Included[]): ListedCall {
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
