import type { Guard } from './guard.ts';

/** Guards of docs/promises.md that neither the torture nor the model takes out. */
export const PROMISE_GUARDS: readonly Guard[] = [
  {
    number: 'P16',
    file: 'server/runs/agent/prepare-request.ts',
    code: "  sha256: hash('sha256', text),",
    broken: "  sha256: hash('sha256', text.slice(1)),",
  },
  {
    number: 'P18',
    file: 'server/store/integrity/salvage-store.ts',
    code: 'isUncertain: true } as const;',
    broken: '} as const;',
  },
  {
    number: 'P21',
    file: 'server/tools/tool-pool.ts',
    code: 'b.availability.lastTouchedAt - a.availability.lastTouchedAt;',
    broken: 'a.availability.lastTouchedAt - b.availability.lastTouchedAt;',
  },
  {
    number: 'P22',
    file: 'server/calls/breaker.ts',
    code: 'const opens = failures >= OPEN_AFTER;',
    broken: 'const opens = failures > OPEN_AFTER;',
  },
  {
    number: 'P29',
    file: 'server/calls/invoke.ts',
    code: '  if (ownerToken === tokenId) return undefined;',
    broken: "  if (ownerToken === tokenId || kind === 'agent') return undefined;",
  },
  {
    number: 'P30',
    file: 'server/auth/tokens.ts',
    code: 'if (!held || held.record.revokedAt !== null) return undefined;',
    broken: 'if (!held) return undefined;',
  },
  {
    number: 'P37',
    file: 'server/secrets/withholding.ts',
    code: 'return routing.withheld === true && !this.#whole.has(args);',
    broken: 'return false && this.#whole.has(args) && routing.withheld;',
  },
  {
    number: 'P38',
    file: 'lib/call/decide.ts',
    code: 'const isTakenUp = goesOn || isRerunnable(call);',
    broken: 'const isTakenUp = goesOn;',
  },
];
