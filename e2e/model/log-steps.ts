import type { EventBatch } from '../../server/calls/event-batch.ts';
import { fromLogTexts, toLogText } from '../../server/store/log-text.ts';
import type { Design } from './design.ts';
import { type Bounds, type Rec, toCall, toRec } from './world.ts';

/**
 * The log then says this of a call to which these events are appended: each is written as its text, read
 * again and folded, so that what is left out of an event is left out of the call.
 */
export function logged(
  before: Rec | null,
  { changes }: Pick<EventBatch, 'changes'>,
  { fold }: Pick<Design, 'fold'>,
  bounds: Bounds,
): Rec {
  let call = before === null ? undefined : toCall(before, bounds);
  for (const change of changes) {
    if (change.type !== 'append_call') continue;
    for (const entry of fromLogTexts(`[${toLogText(change.event)}]`)) {
      ({ call } = fold(call, entry));
    }
  }
  if (!call) throw new Error('a batch without an event was written');
  return toRec(call);
}
