import type { Actor, Via } from '#lib/call/call-event';

/** As events of calls name a client; `via` where it is connected (AU36). */
export function clientActor({
  clientId,
  via,
}: {
  readonly clientId: string;
  readonly via?: Via | undefined;
}): Actor {
  const name = `client:${clientId}`;
  return via ? { name, via } : name;
}
