import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { toWireCall, toWireEvent } from '../../http/to-wire-call.ts';
import { checkStoreFile } from '../integrity/check-store-file.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import type { CallQuery, Store } from '../store.ts';
import { OLDER_STORES } from '../testing/older-store.ts';
import { placeStoreFiles } from '../testing/store-files.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step();
});

function setup(name: string) {
  const dir = mkdtempSync(join(tmpdir(), 'before-log-'));
  cleanups.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'data', 'callboard.db');
  const { answers, ...files } = OLDER_STORES[name]?.() ?? expect.fail(`no store ${name}`);
  placeStoreFiles(file, files);
  const notes: string[] = [];
  const open = (): Store => {
    const store = createSqliteStore({ file, log: (note) => void notes.push(note) });
    cleanups.push(() => store.close());
    return store;
  };
  return { file, open, answers, notes };
}

/** As it went over the wire. */
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const FILTERS: Readonly<Record<string, (value: string) => Partial<CallQuery>>> = {
  run_id: (runId) => ({ runId }),
  status: (status) => ({ status: status as NonNullable<CallQuery['status']> }),
  tool: (tool) => ({ tool }),
  client: (client) => ({ client }),
  q: (text) => ({ text: text.replace('+', ' ') }),
};

async function idsOf(store: Store, query: string): Promise<string[]> {
  const [name = '', value = ''] = query.split('=');
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const asked = { ...FILTERS[name]?.(value), ...(cursor && { cursor }), limit: 7 };
    const { calls, nextCursor } = await store.listCalls(asked);
    ids.push(...calls.map(({ id }) => id));
    cursor = nextCursor ?? undefined;
  } while (cursor);
  return ids;
}

test.each(Object.keys(OLDER_STORES))(
  '[ST34] a store of %s says of each call what the server said that wrote it',
  async (name) => {
    const { file, open, answers } = setup(name);
    const store = open();
    expect(Object.keys(answers.calls).length).toBeGreaterThan(30);
    for (const [id, answer] of Object.entries(answers.calls)) {
      const call = await store.getCall(id);
      if (!call) expect.fail(`${id} is not there`);
      // What a model had written so far of the arguments was in memory alone.
      const { card, ...fields } = answer;
      const stored = answer.phase === 'streaming' ? { ...card, params: {} } : card;
      expect(wire(toWireCall(call))).toEqual({ ...fields, card: stored });
      const events = await store.callEvents(id, { after: 0, limit: 200 });
      expect(events.pop()).toMatchObject({ type: 'imported', version: call.version });
      expect(wire(events.map((event) => toWireEvent(event, true)))).toEqual(
        answers.events[id] ?? [],
      );
    }
    for (const [query, ids] of Object.entries(answers.lists)) {
      expect({ [query]: await idsOf(store, query) }).toEqual({ [query]: ids });
    }
    await store.close();
    expect(checkStoreFile(file).kind).toBe('whole');
    expect(await idsOf(open(), '')).toEqual(answers.lists['']);
  },
);
