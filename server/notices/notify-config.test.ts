import { expect, test } from 'vitest';
import { notifyConfigSchema, readNotify } from './notify-config.ts';
import { SECRET, variable } from './testing/setup-outbox.ts';

const read = (target: object, env: Record<string, string> = {}) =>
  readNotify(notifyConfigSchema.parse({ ops: target }), (name) => env[name], 'board.json');

const problemOf = (target: object, env: Record<string, string> = {}): string => {
  try {
    read(target, env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'none';
};

const webhook = (more: object = {}) => ({
  ...{ kind: 'webhook', url: 'https://receiver.example/hooks/board', secret: SECRET },
  ...more,
});

test('[OB18] secrets, tokens, addresses with a path and values of variables are secret', () => {
  const env = {
    HOOK: 'https://hooks.slack.com/services/T0/B0/xyz',
    KEY: SECRET,
    TOKEN: 'tk_12345',
  };
  const slack = read({ kind: 'slack', url: variable('HOOK') }, env);
  expect(slack.secrets).toEqual([env.HOOK, '/services/T0/B0/xyz']);
  const { secrets, targets } = read(webhook({ secret: [variable('KEY')] }), env);
  expect(secrets).toEqual([SECRET, SECRET.slice(6), 'https://receiver.example/hooks/board']);
  expect(targets.get('ops')).toMatchObject({ keys: [Buffer.alloc(32, 7)] });
  const ntfy = read(
    { kind: 'ntfy', url: 'http://10.0.0.5', topic: 'callboard', token: variable('TOKEN') },
    env,
  );
  expect(ntfy.secrets).toEqual(['tk_12345']);
});

test.each([
  [
    webhook({ secret: 'open-sesame' }),
    'notify.ops.secret must be whsec_ and the base64 of 24 to 64',
  ],
  [
    webhook({ secret: `whsec_${Buffer.alloc(23).toString('base64')}` }),
    'notify.ops.secret must be',
  ],
  [
    webhook({ secret: `whsec_${Buffer.alloc(65).toString('base64')}` }),
    'notify.ops.secret must be',
  ],
  [webhook({ secret: 'whsec_=====' }), 'notify.ops.secret must be'],
  [webhook({ url: 'ftp://receiver.example' }), 'notify.ops.url must be an http or https address'],
  [webhook({ url: 'https://olga:pass@receiver.example' }), 'without a user'],
  [webhook({ url: variable('HOOK') }), 'notify.ops.url names the variable HOOK, which is not set'],
  [
    webhook({ url: variable('HOOK').replace('env:', '') }),
    `a variable of the environment is written ${variable('NAME')}`,
  ],
  [webhook({ url: variable('HOOK').slice(0, -1) }), 'names the variable HOOK'],
] as const)('[OB18] the target %j stops the start', (target, problem) => {
  const message = problemOf(target);
  expect(message).toMatch(/^board\.json: notify\.ops\./);
  expect(message).toContain(problem);
  expect(message).not.toContain('open-sesame');
});

test('[OB18] there are 32 targets at most, with plain names', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, webhook()]));
  expect(notifyConfigSchema.safeParse(many(32)).success).toBe(true);
  expect(notifyConfigSchema.safeParse(many(33)).success).toBe(false);
  expect(notifyConfigSchema.safeParse({ 'O:ps': webhook() }).success).toBe(false);
});
