import { expect, test } from 'vitest';
import type { ApiResult } from '#lib/api/api-result';
import type { AuditQuery } from '#lib/api/settings-api';
import type { WireAuditEntry, WireAuditPage } from '#lib/protocol/audit';
import { exportAudit } from './export-audit.ts';

const entry = (seq: number): WireAuditEntry => ({
  ...{ seq, at: seq, actor: 'operator', token_id: null, address: '127.0.0.1' },
  ...{ act: 'signed_in', target: null, detail: { with: 'token' } },
});

const LIMITED: ApiResult<WireAuditPage> = {
  ...{ ok: false, code: 'rate_limited', message: 'Later.', details: [] },
  ...{ status: 429, retryAfter: 3 },
};

/** A server with so many entries, that asks for patience the first `busy` times. */
function setup({ count, busy = 0 }: { count: number; busy?: number }) {
  const asked: AuditQuery[] = [];
  const waits: number[] = [];
  const progress: number[] = [];
  const controller = new AbortController();
  const deps = {
    listAudit: async (query: AuditQuery): Promise<ApiResult<WireAuditPage>> => {
      asked.push(query);
      if (asked.length <= busy) return LIMITED;
      const from = (query.cursor ?? count + 1) - 1;
      const limit = query.limit ?? 50;
      const entries = Array.from({ length: Math.min(limit, from) }, (_, at) => entry(from - at));
      const next_cursor = from > limit ? from - limit + 1 : null;
      return { ok: true, value: { entries, next_cursor } };
    },
    onProgress: (entries: number) => void progress.push(entries),
    signal: controller.signal,
    wait: async (seconds: number) => void waits.push(seconds),
  };
  return { deps, asked, waits, progress, controller };
}

const linesOf = async (file: Blob) => (await file.text()).split('\n').slice(0, -1);

test('all that the filter gives is one line each, newest first, whatever the number of pages', async () => {
  const { deps, asked, progress } = setup({ count: 200 * 70 + 1 });
  const exported = await exportAudit({ act: 'signed_in', actor: 'operator' }, deps);
  if (exported.kind !== 'done') throw new Error(exported.kind);
  const lines = await linesOf(exported.file);
  expect(lines).toHaveLength(14_001);
  expect(JSON.parse(lines[0] ?? '')).toEqual(entry(14_001));
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(
    Array.from({ length: 14_001 }, (_, at) => 14_001 - at),
  );
  expect(asked).toHaveLength(71);
  expect(asked[1]).toEqual({ act: 'signed_in', actor: 'operator', limit: 200, cursor: 13_802 });
  expect(progress.at(-1)).toBe(14_001);
});

test('nothing that fits is an empty file', async () => {
  const exported = await exportAudit({}, setup({ count: 0 }).deps);
  if (exported.kind !== 'done') throw new Error(exported.kind);
  expect(exported.file.size).toBe(0);
});

test('a server that asks for patience is asked again after that time, and not forever', async () => {
  const patient = setup({ count: 1, busy: 2 });
  expect(await exportAudit({}, patient.deps)).toMatchObject({ kind: 'done' });
  expect(patient.waits).toEqual([3, 3]);
  const endless = setup({ count: 1, busy: 1_000 });
  expect(await exportAudit({}, endless.deps)).toMatchObject({
    ...{ kind: 'failed', failure: { code: 'rate_limited' } },
  });
  expect(endless.asked).toHaveLength(10);
});

test('it ends when it is stopped', async () => {
  const { deps, asked, controller } = setup({ count: 1_000 });
  const going = exportAudit({}, { ...deps, onProgress: () => controller.abort() });
  expect(await going).toEqual({ kind: 'cancelled' });
  expect(asked).toHaveLength(2);
});
