import { type Guard, guard } from './guard.ts';

/** Guards of docs/promises.md that neither the torture nor the model takes out. */
export const PROMISE_GUARDS: readonly Guard[] = [
  guard('P16', 'server/runs/agent/prepare-request.ts', {
    "  sha256: hash('sha256', text),": "  sha256: hash('sha256', text.slice(1)),",
  }),
  guard('P18', 'server/store/integrity/salvage-store.ts', {
    'isUncertain: true } as const;': '} as const;',
  }),
  guard('P21', 'server/tools/tool-pool.ts', {
    'b.availability.lastTouchedAt - a.availability.lastTouchedAt ||':
      'a.availability.lastTouchedAt - b.availability.lastTouchedAt ||',
  }),
  guard('P22', 'server/calls/breaker.ts', {
    'const opens = failures >= OPEN_AFTER;': 'const opens = failures > OPEN_AFTER;',
  }),
  guard('P29', 'server/calls/invoke.ts', {
    '  if (ownerToken === tokenId) return undefined;':
      "  if (ownerToken === tokenId || kind === 'agent') return undefined;",
  }),
  guard('P30', 'server/auth/tokens.ts', {
    'if (!held || held.record.revokedAt !== null) return undefined;':
      'if (!held) return undefined;',
  }),
  guard('P37', 'server/secrets/withholding.ts', {
    'return routing.withheld === true && !this.#whole.has(args);':
      'return false && this.#whole.has(args) && routing.withheld;',
  }),
  guard('P38', 'lib/call/decide.ts', {
    'const isTakenUp = goesOn || isRerunnable(call);': 'const isTakenUp = goesOn;',
  }),
];
