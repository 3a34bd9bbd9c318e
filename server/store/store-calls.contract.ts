import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { changed, finalCall, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { BadCursorError } from './store-errors.ts';
import { appendCall, type Setup } from './testing/store-setup.ts';

/** Calls as every `Store` keeps and lists them. */
export function describeCalls(setup: Setup) {
  const results: [string, unknown][] = [
    ['none yet', undefined],
    ['null', null],
    ['an empty text', ''],
    ['zero', 0],
    ['false', false],
    ['a text with NUL', 'a\u0000b'],
    ['half a character', 'a\ud800b'],
    ['an empty list', []],
    ['an object with a name of JavaScript', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
    ['a large text', 'ü'.repeat(300_000)],
  ];
  test.each(results)('[ST8] a result that is %s comes back', async (_, result) => {
    const { store, reopen } = setup();
    const calls = [
      finalCall({ id: 'tc_1', result }),
      finalCall({ id: 'tc_2', lateResult: result }),
      finalCall({ id: 'tc_3', result, card: { params: {}, status: 'SUCCESS', result } }),
      finalCall({ id: 'tc_4', result, card: { params: { text: 'hi' }, result: 'shown instead' } }),
    ];
    for (const call of calls) await store.write([appendCall(call)]);
    const again = await reopen();
    for (const call of calls) {
      const read = await again.getCall(call.id);
      expect(read?.result).toStrictEqual(call.result);
      expect(read?.lateResult).toStrictEqual(call.lateResult);
      expect(read).toEqual(call);
      expect(Object.hasOwn(read?.card ?? {}, 'result')).toBe(call.card.result !== undefined);
    }
  });

  test('[ST8] any JSON in arguments, result and card comes back', async () => {
    const { store } = setup();
    let id = 0;
    const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
    const object = fc
      .dictionary(fc.string(), json, { maxKeys: 4 })
      .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));
    await fc.assert(
      fc.asyncProperty(object, json, fc.boolean(), object, async (args, result, same, other) => {
        id += 1;
        const card = { params: same ? { ...args } : other, preview: result };
        const shown = { display: other, preview: args };
        const call = finalCall({ id: `tc_${id}`, args, result, card, ...shown });
        await store.write([appendCall(call)]);
        expect(await store.getCall(call.id)).toEqual(call);
      }),
      { numRuns: 200 },
    );
  });

  test('[ST40] a page ends before the call that is not taken; the next begins with it', async () => {
    const { store } = setup();
    const ids = ['tc_1', 'tc_2', 'tc_3', 'tc_4', 'tc_5'];
    await store.write(ids.map((id) => appendCall(sampleCall({ id }))));
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      let room = 2;
      const page = await store.listCalls({
        limit: 4,
        takes: () => room-- > 0,
        ...(cursor === undefined ? {} : { cursor }),
      });
      pages.push(page.calls.map((call) => call.id));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([['tc_5', 'tc_4'], ['tc_3', 'tc_2'], ['tc_1']]);
  });

  test('[ST9] each state of a call replaces the one before, whatever changed', async () => {
    const { store, reopen } = setup();
    const queued = sampleCall();
    const running = sampleCall({
      args: queued.args,
      annotations: queued.annotations,
      status: 'RUNNING',
      phase: 'device',
      provider: sampleProvider,
      granted: true,
      offeredAt: 1,
      startedAt: 2,
      deviceLeftMs: 7_000,
      timeoutMs: 40_000,
      deadlines: { execute: 5, executeLeftMs: 500 },
      clockMark: 3,
      card: { status: 'DOING', params: { text: 'hi', more: 1 }, tip: 'working' },
    });
    const done: Call = {
      ...running,
      args: { text: 'changed by the operator' },
      toolName: 'echo.other',
      runId: 'run_2',
      requestedBy: 'agent:a',
      retryOf: 'tc_0',
      wantedClientId: 'cl_1',
      annotations: { idempotentHint: true },
      createdAt: 5,
      source: 'server',
      status: 'FAILED',
      phase: null,
      provider: { ...sampleProvider, journalEpoch: null, claims: false },
      error: { code: 'tool_error', message: 'no', executed: 'yes', client_code: 'x' },
      attachments: [{ blob_id: 'blob_1', media_type: 'image/png', size: 3 }],
      resultHash: 'h',
      completedAt: 9,
      card: { status: 'ERROR', params: {} },
    };
    const late: Call = { ...done, lateResult: null };
    for (const [index, one] of [queued, running, done, late].entries()) {
      const state = { ...one, version: index + 1 };
      await store.write([appendCall(state)]);
      expect(await store.getCall('tc_1')).toEqual(state);
    }
    expect(await (await reopen()).getCall('tc_1')).toEqual({ ...late, version: 4 });
  });

  test('[ST10] pages hold each call once, first written last, while others are written and end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 7 }),
        async (times, limit) => {
          const { store } = setup();
          const calls = times.map((createdAt, index) =>
            sampleCall({ id: `tc_${9 - createdAt}_${index}`, createdAt }),
          );
          await store.write(calls.map((call) => appendCall(call)));
          const isEnded = new Set<string>();
          const end = async (call: Call | undefined) => {
            if (!call || isEnded.has(call.id)) return;
            isEnded.add(call.id);
            const ended = { status: 'SUCCEEDED', phase: null, version: 2 } as const;
            await store.write([appendCall(changed(call, { ...ended }))]);
          };
          const seen: string[] = [];
          let cursor: string | undefined;
          for (let page = 0; page <= calls.length; page += 1) {
            const got = await store.listCalls({ limit, ...(cursor !== undefined && { cursor }) });
            expect(got.calls.length).toBeLessThanOrEqual(limit);
            seen.push(...got.calls.map(({ id }) => id));
            if (got.nextCursor === null) break;
            cursor = got.nextCursor;
            await store.write([appendCall(sampleCall({ id: `tc_new_${page}`, createdAt: page }))]);
            await end(got.calls.at(-1));
            await end(calls[page]);
            if (page % 2 === 1) await store.toolUse.recent({ limit: 1 }); // Applies them.
          }
          expect(seen).toEqual(calls.map(({ id }) => id).toReversed());
        },
      ),
      { numRuns: 10 }, // Each opens a store with its threads.
    );
  });

  const otherJson = Buffer.from('{"a":1}').toString('base64url');
  const threeValues = Buffer.from('[1,"a",2]').toString('base64url');
  test.each(['', 'x', otherJson, threeValues])('[ST11] %j is no cursor', async (cursor) => {
    const { store } = setup();
    await expect(store.listCalls({ limit: 1, cursor })).rejects.toBeInstanceOf(BadCursorError);
    await expect(store.listRuns({ limit: 1, cursor })).rejects.toBeInstanceOf(BadCursorError);
  });

  test('[ST81] the calls of a client are found by its name, under each id that it has had', async () => {
    const { store } = setup();
    const put = (clientId: string, name: string, at: number, owner = 'tok_1') => ({
      type: 'put_client' as const,
      client: {
        ...{ clientId, name, owner, instanceId: 'in', kind: 'phone' as const, journalEpoch: null },
        ...{ resumeTokenHash: `h ${clientId}`, lastSeenAt: at },
      },
    });
    await store.write([
      put('cl_old', 'Pixel 8', 1),
      put('cl_new', 'Pixel 8', 2),
      put('cl_else', 'Robot', 3),
      // Another owner's clients that take the name, and an id as their name, hide nothing.
      ...Array.from({ length: 80 }, (_, at) => put(`cl_x${at}`, 'Pixel 8', 10 + at, 'tok_2')),
      put('cl_y', 'cl_old', 99, 'tok_2'),
    ]);
    const of = (id: string, clientId: string, createdAt: number) =>
      appendCall(finalCall({ id, createdAt, provider: { ...sampleProvider, clientId } }));
    await store.write([of('tc_1', 'cl_old', 1), of('tc_2', 'cl_else', 2), of('tc_3', 'cl_new', 3)]);
    const wanted = { wantedClientId: 'cl_else' };
    await store.write([
      of('tc_4', 'cl_y', 4),
      appendCall(finalCall({ id: 'tc_5', createdAt: 5, ...wanted })),
    ]);
    const ids = async (query: { client?: string; text?: string }) =>
      (await store.listCalls({ limit: 10, ...query })).calls.map((call) => call.id);
    expect(await ids({ client: 'Pixel 8' })).toEqual(['tc_3', 'tc_1']);
    expect(await ids({ client: 'cl_old' })).toEqual(['tc_1']);
    expect(await ids({ client: 'Pixel' })).toEqual([]);
    expect(await ids({ text: 'pixel' })).toEqual(['tc_3', 'tc_1']);
    expect(await ids({ text: 'robot', client: 'Robot' })).toEqual(['tc_5', 'tc_2']);
  });
}
