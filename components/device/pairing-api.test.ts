import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryOf } from '#lib/client/testing/zod-arbitrary';
import { isRecord } from '#lib/json/is-record';
import { joinedSchema, lookSchema, outcomeSchema } from '#lib/protocol/device';
import { createPairingApi, type PairingApi } from './pairing-api.ts';

const TOKEN = `cb_device_${'a'.repeat(43)}`;
const JOIN = { token_hash: 'a'.repeat(64), name: 'Pixel 8', kind: 'phone', tools: [] } as const;

const ROUTES = [
  ['look', lookSchema, lookSchema, (api: PairingApi) => api.look('ABCDEFGH')],
  // The tools that were rejected are listed again when the device connects.
  ['join', joinedSchema, lookSchema, (api: PairingApi) => api.join({ ...JOIN, tools: [] })],
  ['outcome', outcomeSchema, outcomeSchema, (api: PairingApi) => api.outcome(TOKEN)],
] as const;

const overWire = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer));

/** Values that are right somewhere, and wrong elsewhere. */
const values = fc.oneof(
  fc.constantFrom<unknown[]>(
    undefined,
    null,
    0,
    -1,
    1.5,
    '',
    'waiting',
    true,
    [],
    {},
    [1, 2, 3, 4],
  ),
  fc.jsonValue({ maxDepth: 1 }),
);

test.each(ROUTES)(
  '[DP38] an answer to %s is read as its schema reads it, or not at all',
  async (_name, schema, used, ask) => {
    const answers = arbitraryOf(schema).map((answer) => {
      if (!isRecord(answer) || !isRecord(answer.workbench)) throw new Error('no answer');
      return { ...answer, workbench: { ...answer.workbench, fingerprint: [1, 2, 3, 255] } };
    });
    const read = async (answer: unknown) => {
      const api = createPairingApi(async () => new Response(JSON.stringify(answer)));
      return ask(api);
    };
    const hold = (all: fc.Arbitrary<unknown>, numRuns: number) =>
      fc.assert(
        fc.asyncProperty(all, async (answer) => {
          const got = await read(answer);
          const wanted = used.safeParse(overWire(answer));
          expect(got.ok ? got.value : undefined).toEqual(wanted.data);
        }),
        { numRuns },
      );
    await hold(answers, 100);
    const damaged = fc
      .tuple(answers, fc.constantFrom('workbench', 'expires_at', 'state', 'device'), values)
      .map(([answer, field, value]) => ({ ...answer, [field]: value }));
    await hold(damaged, 300);
  },
);

test('[DP38] what is no answer of the server is one that did not arrive', async () => {
  for (const body of ['<html>', '[]', '{}', '{"state":"let in"}']) {
    const api = createPairingApi(async () => new Response(body));
    expect(await api.outcome(TOKEN)).toMatchObject({ ok: false, problem: { code: 'unreachable' } });
  }
});
