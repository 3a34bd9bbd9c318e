import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { EventStream } from './line.ts';

test('a stream of events that is closed twice ends once, with the first reason', () => {
  const ended: string[] = [];
  const outgoing = Object.assign(new EventEmitter(), { end: (text: string) => ended.push(text) });
  const stream = new EventStream(outgoing as unknown as ServerResponse, createManualClock());
  stream.close(1000, 'first');
  stream.close(1001, 'second');
  expect(ended).toEqual(['event: close\ndata: {"code":1000,"reason":"first"}\n\n']);
});
