import type { Guard } from './guard.ts';

/** Guards of pairing and devices. */
export const DEVICE_GUARDS: readonly Guard[] = [
  {
    number: 'T17',
    file: 'server/clients/resume-session.ts',
    code: 'const known = ownClientId(principal) ?? proof?.client.clientId;',
    broken: 'const known = proof?.client.clientId ?? hello?.client_id ?? ownClientId(principal);',
  },
  {
    number: 'T18',
    file: 'server/clients/resume-session.ts',
    code: '  if (!client || (client.owner !== null && client.owner !== principalKey(principal))) return;',
    broken:
      '  if (!client) return { client: { clientId, instanceId: instance_id }, nextToken, isOfThisInstance: true };',
  },
  {
    number: 'T19',
    file: 'server/clients/client-ids.ts',
    code: 'if (deps.isMadeHere(clientId) || beingTaken.has(clientId)) return false;',
    broken: 'if (deps.isMadeHere(clientId)) return true;',
  },
  {
    number: 'T20',
    file: 'server/clients/pairing-service.ts',
    code: '    if (!pairing) throw noSuchCode();\n',
    broken:
      "    if (!pairing) throw noSuchCode();\n    if (requester.address === '127.0.0.1') await this.decide(pairing.pairing_id, { decision: 'approve' }, { caller: { kind: 'operator', name: 'operator', role: 'admin', tokenId: null, sessionId: null }, address: '' });\n",
  },
  {
    number: 'T21',
    file: 'server/clients/pairings.ts',
    code: 'if (this.#wrong < MOST_WRONG)',
    broken: 'if (this.#wrong > 0)',
  },
  {
    number: 'T22',
    file: 'server/http/routes/pairings.ts',
    code: "with the tools that it may offer, or refuse it',\n    access: OPERATORS,",
    broken: "with the tools that it may offer, or refuse it',\n    access: VIEWERS,",
  },
  {
    number: 'T23',
    file: 'server/clients/pairing-service.ts',
    code: 'names?.includes(tool.name) ?? true;',
    broken: '!names?.length || names.includes(tool.name);',
  },
  {
    number: 'T24',
    file: 'server/http/routes/pairings.ts',
    code: "and those that ended in the last ten minutes',\n    access: VIEWERS,",
    broken:
      "and those that ended in the last ten minutes',\n    access: { ...VIEWERS, also: ['device'] },",
  },
  {
    number: 'T25',
    file: 'server/clients/device-list.ts',
    code: 'if (known.revokedAt !== null) {',
    broken: 'if (known.revokedAt === 0) {',
  },
  {
    number: 'T26',
    file: 'server/auth/credentials.ts',
    code: 'if (ended === sessionId) onEnd();',
    broken: "if (ended === '') onEnd();",
  },
  {
    number: 'T28',
    file: 'server/clients/resume-session.ts',
    code: 'client.owner !== principalKey(principal)',
    broken: 'client.owner === principalKey(principal) + clientId',
  },
  {
    number: 'T29',
    file: 'server/clients/open-devices.ts',
    code: 'randomInt(PAIRING_ALPHABET.length)',
    broken: 'randomInt(256) % PAIRING_ALPHABET.length',
  },
  {
    number: 'T33',
    file: 'server/auth/secrets.ts',
    code: "flag: 'wx', mode: 0o600",
    broken: "flag: 'wx', mode: 0o644",
  },
  {
    number: 'T34',
    file: 'lib/call/call-machine.ts',
    code: "  if (!provider || provider.clientId !== from.clientId) return 'not_your_call';\n  // guard: only-its-instance-answers\n  if (provider.instanceId !== from.instanceId) return 'not_your_call';\n",
    broken: "  if (!provider) return 'not_your_call';\n",
  },
  {
    number: 'T35',
    file: 'server/doors/access.ts',
    code: "export const READERS = allowed('viewer', 'agent');",
    broken: "export const READERS = allowed('viewer', 'agent', 'device');",
  },
  {
    number: 'T36',
    file: 'server/clients/pairing-service.ts',
    code: "    await this.#audit(by, 'device_denied', pairing.pairing_id, { name, origin, from });\n",
    broken: '',
  },
];
