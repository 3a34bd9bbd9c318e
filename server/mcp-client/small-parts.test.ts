import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { mendMessages } from './mend-message.ts';
import { OutputTail, ProgramTransport } from './program-transport.ts';
import { toToolError } from './run-call.ts';

test('[MC23] of the output of a program the last 8 KiB are kept, from the beginning of a line on', () => {
  const tail = new OutputTail();
  const line = `${'é'.repeat(30)}\n`;
  for (let at = 0; at < 1_000; at += 1) {
    const bytes = Buffer.from(line);
    tail.add(bytes.subarray(0, 7));
    tail.add(bytes.subarray(7));
  }
  expect(Buffer.byteLength(tail.text)).toBeLessThanOrEqual(8 * 1024);
  expect(Buffer.byteLength(tail.text)).toBeGreaterThan(8_000);
  expect(new Set(tail.text.trimEnd().split('\n'))).toEqual(new Set([line.trimEnd()]));
  tail.add(Buffer.alloc(50_000_000, 'x'));
  expect(tail.text).toBe('');
});

test('[MC73] of a message that is many, a thousand are taken: each has its price', () => {
  const many = Array.from({ length: 60_000 }, () => ({ method: 'notifications/message' }));
  expect(mendMessages(many, new Set())).toHaveLength(1_000);
});

const httpFailure = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'It says no', { status });
const refusedConnection = new TypeError('fetch failed', {
  cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
});

test.each<[string, Error, 'no' | 'unknown']>([
  ['a code for an unknown tool', new ProtocolError(-32_601, 'No such tool'), 'unknown'],
  ['a code for wrong arguments', new ProtocolError(-32_602, 'Wrong'), 'unknown'],
  ['the status 400', httpFailure(400), 'unknown'],
  ['the status 404', httpFailure(404), 'unknown'],
  ['the status 500', httpFailure(500), 'unknown'],
  ['no connection', refusedConnection, 'no'],
  ['a connection that is closed', new SdkError(SdkErrorCode.NotConnected, 'Closed'), 'no'],
])('[MC61] after %s a call is as much as run as is known here', (_what, error, executed) => {
  expect(toToolError(error, { id: 'files', foreign: 'echo' }).executed).toBe(executed);
});

test('[MC20] the last words of a program are its own, also where one before it said the same', async () => {
  const tail = new OutputTail();
  tail.add(Buffer.from('out of memory\n'.repeat(1_000)));
  const program = new ProgramTransport(
    { command: process.execPath, args: ['-e', "console.error('out of memory')"], stderr: 'pipe' },
    { tail, mostBytes: 1_000, read: () => [] },
  );
  const closed = new Promise<void>((resolve) => {
    program.onclose = resolve;
  });
  await program.start();
  await closed;
  expect(program.lastWords).toBe('out of memory');
});
