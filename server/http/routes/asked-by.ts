import type { Caller } from '../../auth/room.ts';
import type { By } from '../../devices/room.ts';

/** Who made a request, and from where. */
export const askedBy = (asked: {
  readonly principal: Caller;
  readonly context: { readonly address: string };
}): By => ({ caller: asked.principal, address: asked.context.address });
