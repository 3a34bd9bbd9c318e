import type { Guard } from './guard.ts';

/** Of pairing and devices. */
export const DEVICE_GUARDS: readonly Guard[] = [
  {
    number: 'T21',
    file: 'server/devices/pairings.ts',
    code: 'if (this.#wrong < MOST_WRONG)',
    broken: 'if (this.#wrong > 0)',
  },
  {
    number: 'T23',
    file: 'server/devices/pairing-service.ts',
    code: 'names?.includes(tool.name) ?? true;',
    broken: '!names?.length || names.includes(tool.name);',
  },
  {
    number: 'T25',
    file: 'server/devices/device-list.ts',
    code: 'if (known.revokedAt !== null) {',
    broken: 'if (known.revokedAt === 0) {',
  },
  {
    number: 'T28',
    file: 'server/connections/resume-session.ts',
    code: 'client.owner !== principalKey(principal)',
    broken: 'client.owner === principalKey(principal) + clientId',
  },
];
