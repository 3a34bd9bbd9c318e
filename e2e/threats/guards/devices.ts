import { type Guard, guard } from './guard.ts';

/** Guards of pairing and devices. */
export const DEVICE_GUARDS: readonly Guard[] = [
  guard('T17', 'server/clients/identities.ts', {
    'const known = ownClientId(principal) ?? proof?.client.clientId;':
      'const known = proof?.client.clientId ?? hello?.client_id ?? ownClientId(principal);',
  }),
  guard('T18', 'server/clients/identities.ts', {
    '  if (!client || (client.owner !== null && client.owner !== principalKey(principal))) return;':
      '  if (!client) return { client: { clientId, instanceId: instance_id }, nextToken, isOfThisInstance: true };',
  }),
  guard('T19', 'server/clients/identities.ts', {
    'if (isMadeHere(clientId) || this.#beingTaken.has(clientId)) return false;':
      'if (isMadeHere(clientId)) return true;',
  }),
  guard('T20', 'server/clients/pairing-service.ts', {
    '    if (!pairing) throw noSuchCode();\n':
      "    if (!pairing) throw noSuchCode();\n    if (requester.address === '127.0.0.1') await this.decide(pairing.pairing_id, { decision: 'approve' }, { caller: { kind: 'operator', name: 'operator', role: 'admin', tokenId: null, sessionId: null }, address: '' });\n",
  }),
  guard('T21', 'server/clients/pairings.ts', {
    'if (this.#wrong < MOST_WRONG)': 'if (this.#wrong > 0)',
  }),
  guard('T22', 'server/http/routes/pairings.ts', {
    "with the tools that it may offer, or refuse it',\n    access: OPERATORS,":
      "with the tools that it may offer, or refuse it',\n    access: VIEWERS,",
  }),
  guard('T23', 'server/clients/pairing-service.ts', {
    'names?.includes(tool.name) ?? true;': '!names?.length || names.includes(tool.name);',
  }),
  guard('T24', 'server/http/routes/pairings.ts', {
    "and those that ended in the last ten minutes',\n    access: VIEWERS,":
      "and those that ended in the last ten minutes',\n    access: { ...VIEWERS, also: ['device'] },",
  }),
  guard('T25', 'server/clients/device-list.ts', {
    'if (known.revokedAt !== null) {': 'if (known.revokedAt === 0) {',
  }),
  guard('T26', 'server/auth/credentials.ts', {
    'if (ended === sessionId) onEnd();': "if (ended === '') onEnd();",
  }),
  guard('T28', 'server/clients/identities.ts', {
    'client.owner !== principalKey(principal)':
      'client.owner === principalKey(principal) + clientId',
  }),
  guard('T29', 'server/clients/open-devices.ts', {
    'randomInt(PAIRING_ALPHABET.length)': 'randomInt(256) % PAIRING_ALPHABET.length',
  }),
  guard('T33', 'server/auth/secrets.ts', { "flag: 'wx', mode: 0o600": "flag: 'wx', mode: 0o644" }),
  guard('T34', 'lib/call/call-machine.ts', {
    "  if (!provider || provider.clientId !== from.clientId) return 'not_your_call';\n  // guard: only-its-instance-answers\n  if (provider.instanceId !== from.instanceId) return 'not_your_call';\n":
      "  if (!provider) return 'not_your_call';\n",
  }),
  guard('T35', 'server/doors/access.ts', {
    "export const READERS = allowed('viewer', 'agent');":
      "export const READERS = allowed('viewer', 'agent', 'device');",
  }),
  guard('T36', 'server/clients/pairing-service.ts', {
    "    await this.#audit(by, 'device_denied', pairing.pairing_id, { name, origin, from });\n": '',
  }),
];
