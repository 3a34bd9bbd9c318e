import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createCollector } from '../base/collect-garbage.ts';
import { InboundBudget } from '../sockets/inbound.ts';
import { type BodySource, GatheredBytes, readJson } from './read-body.ts';

test('[HT56] pieces of whatever sizes come to the bytes that were sent, in order', () => {
  for (const sizes of [[1], [1, 1], [5_000], [1, 5_000, 1, 4_096, 4_095, 2], [3, 9_000, 3]]) {
    const sent = sizes.map((size, at) => Buffer.alloc(size, at + 1));
    const gathered = new GatheredBytes();
    for (const piece of sent) gathered.add(piece);
    expect(gathered.all().equals(Buffer.concat(sent))).toBe(true);
  }
  expect(new GatheredBytes().all().length).toBe(0);
});

test('[HT56] a body in single bytes takes little more than its bytes', () => {
  const BYTES = 256 * 1024;
  const memory = () => {
    createCollector().used(Number.MAX_SAFE_INTEGER);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const gathered = new GatheredBytes();
  const before = memory();
  // As Node makes a buffer of each chunk of a body.
  for (let at = 0; at < BYTES; at += 1) gathered.add(Buffer.allocUnsafeSlow(1));
  // As buffers of their own they take some 50 MiB.
  expect(memory() - before).toBeLessThan(8 * 1024 * 1024);
  expect(gathered.all().length).toBe(BYTES);
});

const sourceOf = (pieces: readonly string[], headers: Readonly<Record<string, string>>) => ({
  incoming: Object.assign(Readable.from(pieces.map((piece) => Buffer.from(piece))), { headers }),
  outgoing: new EventEmitter(),
  inbound: new InboundBudget({ clock: createManualClock() }),
});

test('a small body that comes in pieces is whole before it is read', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': '9' };
  const source = sourceOf(['{"a":', '1', '2', '3}'], headers);
  expect(await readJson(source as unknown as BodySource)).toEqual({ value: { a: 123 }, bytes: 9 });
});

test('a small body whose connection ends before its last byte is refused, and no request waits', async () => {
  const source = sourceOf([], { 'content-type': 'application/json', 'content-length': '9' });
  const answer = readJson(source as unknown as BodySource);
  source.incoming.emit('data', Buffer.from('{"a":'));
  source.outgoing.emit('close');
  await expect(answer).rejects.toThrow('The connection ended before the body was complete.');
});

test('a large body is handled in a turn of its own, after what others have waiting', async () => {
  const order = async (bytes: number) => {
    const done: string[] = [];
    const text = JSON.stringify({ text: 'x'.repeat(bytes) });
    const source = sourceOf([text], { 'content-type': 'application/json' });
    source.incoming.once('end', () => setImmediate(() => done.push('others')));
    await readJson(source as unknown as BodySource);
    done.push('handled');
    await new Promise((resolve) => setImmediate(resolve));
    return done;
  };
  expect(await order(1_000)).toEqual(['handled', 'others']);
  expect(await order(100_000)).toEqual(['others', 'handled']);
});
