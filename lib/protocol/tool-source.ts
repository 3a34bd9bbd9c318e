/** Whose tool it is: `server`, `client`, or the kind of another provider, such as `mcp`. Readers accept any. */
interface Sourced {
  readonly source: string;
}

interface Named {
  readonly name: string;
}

/** True when a client is asked to run it; a tool of any other source runs inside the server. */
export const isOfClient = ({ source }: Sourced): boolean => source === 'client';

interface Trusted extends Sourced {
  /** Given where the source does not say it: `server` is trusted, and no other. */
  readonly trusted?: boolean | undefined;
}

/** True when what the tool gives and says is taken as the server's own; else it is marked as untrusted. */
export const isTrusted = ({ source, trusted = source === 'server' }: Trusted): boolean => trusted;

/** Lists have the server's own tools first, as they are; then all others by name. */
export function inListOrder(a: Sourced & Named, b: Sourced & Named): number {
  const isOwn = a.source === 'server';
  if (isOwn !== (b.source === 'server')) return isOwn ? -1 : 1;
  if (isOwn || a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

/** A call that asks each client of a pool has it, and runs nothing itself. */
export const POOL_SOURCE = 'pool';
