import { expect, test } from 'vitest';
import { hasRole } from '#lib/protocol/role';
import { FIRST_OPERATOR, mayDecide, principalKey, principalName } from './principal.ts';

const olga = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_1' } as const;
const bot = { kind: 'agent', name: 'bot', tokenId: 'tok_2', tools: [] } as const;
const phone = { kind: 'device', clientId: 'phone', tokenId: 'tok_3' } as const;
const run = { kind: 'run', runId: 'run_1', owner: olga } as const;

test('[AU28] each principal has a name, and the first operator has the one it always had', () => {
  expect([FIRST_OPERATOR, olga, bot, phone, run].map(principalName)).toEqual([
    'operator',
    'operator:olga',
    'agent:bot',
    'device:phone',
    'run:run_1',
  ]);
  expect(principalName({ ...FIRST_OPERATOR, sessionId: 's' })).toBe('operator');
});

test('[AU31] keys of what is stored are those of the tokens', () => {
  expect([FIRST_OPERATOR, olga, bot, phone, run].map(principalKey)).toEqual([
    'operator',
    'tok_1',
    'tok_2',
    'device:phone',
    'run:run_1',
  ]);
});

test('[AU28] [AU30] each role allows what those before it do', () => {
  const roles = ['viewer', 'operator', 'admin'] as const;
  expect(roles.map((role) => roles.map((least) => hasRole(role, least)))).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
  expect([FIRST_OPERATOR, olga, bot, phone, run].map(mayDecide)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
