import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { compilePolicy, decidePolicy, limitsFor } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { Notice } from '#lib/protocol/notice';
import { openDevices, pairingConfigSchema } from '../clients/open-devices.ts';
import { ChatText } from '../doors/openai/chat-completion.ts';
import { ResponseItems } from '../doors/openai/response-object.ts';
import { createConfigTargets } from '../notices/config-targets.ts';
import { startReceiver, status } from '../notices/testing/receiver.ts';
import { finished, SECRET, setupOutbox, webhook } from '../notices/testing/setup-outbox.ts';
import { RateLimits } from '../policy/rate-limits.ts';
import { createRehearsalModel } from '../rehearsal/rehearsal-model.ts';
import { withSettings } from '../runs/agent/language-models.ts';
import { Models } from '../runs/agent/models.ts';
import { createManualClock, systemClock } from '../runs/agent/testing/fakes.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { createHttpRequest } from '../tools/builtin/http-request.ts';
import { openTools } from '../tools/open-tools.ts';
import { configFileSchema, readConfig } from './config.ts';

/** What a value does, by the code that reads it: another value does something else. */
type Observe = (value: string, all: readonly string[]) => unknown;

const asked: PolicyQuestion = {
  ...{ caller: { kind: 'operator', name: 'x', role: 'viewer' }, via: 'run', toolName: 'mail' },
  ...{ source: 'client', clientId: 'one', isUntrusted: true, access: 'write' },
  ...{ schemaHash: 'h', args: {} },
};
const policyOf = (policy: object) =>
  compilePolicy(policyDefinitionSchema.parse({ unknown_effects: 'allow', ...policy }));
const effectOf = (policy: object, more: object = {}) =>
  decidePolicy(policyOf(policy), { ...asked, ...more }).effect;

/** A scope with the value, and a call that has it. */
const SCOPES: Record<string, (value: string) => [scope: object, call: object]> = {
  'callers.kind': (kind) => [{ callers: [{ kind }] }, { caller: { kind, name: 'x' } }],
  'callers.role': (role) => [{ callers: [{ role }] }, { caller: { ...asked.caller, role } }],
  via: (via) => [{ via: [via] }, { via }],
  source: (source) => [{ source }, { source }],
  access: (access) => [{ access }, { access }],
};

/** Which calls a rule, or a limit, with the value is for. */
const scopes = Object.fromEntries(
  Object.entries(SCOPES).flatMap(([key, having]): [string, Observe][] => [
    [
      `policy.rules.${key}`,
      (value, all) =>
        all.filter((one) => {
          const rules = [{ effect: 'ask', ...having(value)[0] }];
          return effectOf({ rules }, having(one)[1]) === 'ask';
        }),
    ],
    [
      `policy.limits.${key}`,
      (value, all) =>
        all.filter((one) => {
          const policy = policyOf({ limits: [{ calls: 1, seconds: 9, ...having(value)[0] }] });
          return limitsFor(policy, { ...asked, ...having(one)[1] }).length === 1;
        }),
    ],
  ]),
);

const effort: Observe = async (value) => {
  let given: unknown;
  const model = {
    ...{ specificationVersion: 'v4', provider: 'p', modelId: 'm', supportedUrls: {} },
    doGenerate: async ({ reasoning }: LanguageModelV4CallOptions) => {
      given = reasoning;
      return { content: [], finishReason: { unified: 'stop' }, usage: {}, warnings: [] };
    },
  } as unknown as LanguageModelV4;
  const settings = z.object({ reasoning_effort: z.any() }).parse({ reasoning_effort: value });
  await withSettings(model, settings).doGenerate({ prompt: [] });
  return given;
};

const target = (more: object) => ({ kind: 'slack', url: new URL('http://a.example'), ...more });
const wantsOf = (settings: object, notice: object) => {
  const [one] = createConfigTargets({ targets: new Map([['one', target(settings)]]) } as never, {
    ...({} as Parameters<typeof createConfigTargets>[1]),
  }).list();
  return one?.wants(notice as Notice);
};

const EFFECTS: Record<string, Observe> = {
  ...scopes,
  'policy.rules.effect': (effect) =>
    effectOf({ unknown_effects: effect === 'allow' ? 'ask' : 'allow', rules: [{ effect }] }),
  'policy.limits.each': (each) => {
    const limits = new RateLimits({
      store: { write: async () => {}, listKept: async () => [] },
      clock: createManualClock(),
      logger: createErrorLog().logger,
    });
    const policy = policyOf({ limits: [{ calls: 1, seconds: 9, each: [each] }] });
    const others = [{ caller: { kind: 'agent', name: 'y' } }, { toolName: 'b' }, { clientId: 'c' }];
    limits.take(policy, asked);
    return others.map((more) => limits.take(policy, { ...asked, ...more } as PolicyQuestion));
  },
  'policy.unknown_effects': (unknown_effects) => effectOf({ unknown_effects }),
  'agent.reasoning_effort': effort,
  'models.reasoning_effort': effort,
  'models.tool_calling': async (value) => {
    const tool_calling = z.enum(['native', 'text']).parse(value);
    const models = new Models({
      ...{ openaiApiKey: undefined, openaiBaseUrl: 'http://127.0.0.1:9/v1' },
      ...{ defaultModel: undefined, clock: systemClock },
      rehearsal: createRehearsalModel({ clock: systemClock, paceMs: 0 }),
      settings: { 'compatible:m': { tool_calling } },
    });
    const opened = await models.open('compatible:m');
    return opened.ok && opened.model.toolPrompt !== null;
  },
  'tools.shell.isolation': async (isolation) => {
    const dir = mkdtempSync(join(tmpdir(), 'callboard-values-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const lines: string[] = [];
    const tools = { workspace: mkdtempSync(join(dir, 'w-')), shell: { isolation } };
    const file = join(dir, 'callboard.config.json');
    writeFileSync(file, JSON.stringify({ tools }), { mode: 0o600 });
    const config = readConfig({ CALLBOARD_DATA_DIR: join(dir, '.callboard') }, dir);
    const store = createStoreOnThisThread({ file: join(dir, 'store.db') });
    onTestFinished(() => store.close());
    // No program can be started in a namespace of its own where none is found.
    const parts = { threadOf: () => 'unused', env: { PATH: '' }, store, clock: systemClock };
    const logger = { info: (line: string) => void lines.push(line) };
    const opened = openTools(config, { ...parts, logger });
    return opened.then(
      () => lines.length,
      () => 'refused',
    );
  },
  'tools.http.methods': (method, all) =>
    all.filter(
      (one) =>
        createHttpRequest({
          ...{ hosts: ['a.example'], private_hosts: [], headers: [], methods: [method] },
        }).args.safeParse({ url: 'https://a.example/', method: one }).success,
    ),
  'openai_api.chat_calls': (calls) => new ChatText(z.any().parse(calls)).take(RESULT),
  'openai_api.response_calls': (calls) => {
    const items = new ResponseItems({ id: 'm', model: 'm', created: 1 }, z.any().parse(calls));
    return [items.take({ ...RESULT, step: 'written' }), items.take(RESULT)];
  },
  'pairing.pages': async (pages) => {
    const { origins, stop } = await openDevices(pairingConfigSchema.parse({ pages }), {
      clock: createManualClock(),
      ...{ store: { write: async () => {}, listKept: async () => [] }, newId: (kind) => kind },
      ...{ bus: { publish: () => 0 }, logger: createErrorLog().logger },
      ...{ tokens: { onRevoked: () => () => {} } as never, audit: {} as never },
    });
    stop();
    return origins.mayAsk('https://a.example');
  },
  'notify.kind': async (kind) => {
    const receiver = await startReceiver(status(200));
    const given = { slack: {}, webhook: { secret: SECRET }, ntfy: { topic: 'board' } }[kind];
    const { ask } = await setupOutbox({
      notify: { one: { kind, url: receiver.origin, ...given } },
    });
    await ask();
    await receiver.got(1);
    return Object.keys(JSON.parse(receiver.received[0]?.body ?? '{}'));
  },
  'notify.events': (event, all) =>
    all.filter((type) => wantsOf({ events: [event] }, { type, data: {} })),
  'notify.outcomes': (value, all) =>
    all.filter((outcome) =>
      wantsOf(
        { events: ['call.finished'], outcomes: [value] },
        { type: 'call.finished', data: { outcome } },
      ),
    ),
  'notify.include': async (value) => {
    const receiver = await startReceiver(status(200));
    const settings = { include: [value], events: ['call.finished'] };
    const { decide } = await setupOutbox({ notify: webhook(receiver.origin, settings) });
    await decide(finished({ args: { a: 1 }, result: 2 }), finished({ status: 'RUNNING' }));
    await receiver.got(1);
    const { data } = JSON.parse(receiver.received[0]?.body ?? '{}');
    return ['arguments', 'result'].filter((name) => name in data);
  },
};

const RESULT = {
  type: 'tool_call',
  ...({ step: 'ended', id: 'c', name: 'echo', messageId: 'm' } as const),
  card: { status: 'SUCCESS', params: {}, result: 'hi' },
} as const;

test('[PO1] each choice that the configuration offers does what no other does', async () => {
  const schema = z.toJSONSchema(configFileSchema, { io: 'input', unrepresentable: 'any' });
  const choices = choicesIn(schema);
  expect([...choices.keys()].toSorted()).toEqual(Object.keys(EFFECTS).toSorted());
  for (const [path, values] of choices) {
    const seen = [];
    for (const value of values) {
      const did = await EFFECTS[path]?.(value, [...values]);
      // A filter that is for nothing is a value without an effect.
      expect(did, `${path} ${value}`).not.toEqual([]);
      seen.push(JSON.stringify(did ?? null));
    }
    expect(new Set(seen).size, `${path}: ${seen.join(' ')}`).toBe(values.size);
  }
});

/** The texts of each `enum` and `const` of a JSON Schema, at any depth, by the names that lead there. */
function choicesIn(schema: unknown, path = '', found = new Map<string, Set<string>>()) {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [key, inner] of Object.entries(schema)) {
    const values = key === 'enum' ? inner : key === 'const' ? [inner] : undefined;
    if (Array.isArray(values)) {
      for (const value of values) {
        if (typeof value === 'string') found.set(path, (found.get(path) ?? new Set()).add(value));
      }
    } else {
      const isForm = /^(?:items|properties|additionalProperties|anyOf|oneOf|allOf|\d+)$/.test(key);
      choicesIn(inner, isForm ? path : [path, key].filter(Boolean).join('.'), found);
    }
  }
  return found;
}
