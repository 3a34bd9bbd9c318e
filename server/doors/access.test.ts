import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { type Caller, FIRST_OPERATOR } from '../auth/principal.ts';
import { PROGRAMS, refuseCaller, seenBlob, seenCall } from './access.ts';

const bot: Caller = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: [] };
const other: Caller = { ...bot, tokenId: 'tok_other' };
const phone: Caller = { kind: 'device', clientId: 'phone', tokenId: null };

test('[HT63] [MP14] a call and a blob of a program are seen by it and by people, and by nobody else', async () => {
  const room: number[] = [];
  const makeRoom = async (bytes: number) => void room.push(bytes);
  const call = sampleCall({ ownerToken: bot.tokenId });
  const calls = { get: async () => call, storedBytes: async () => 7 };
  const blob = {
    attachment: { blob_id: 'b', media_type: 'image/png', size: 5 },
    bytes: Buffer.from('bytes'),
  };
  const files = {
    blobs: { find: async () => blob.attachment, read: async () => blob },
    history: { isBlobOf: async (token: string) => token === bot.tokenId },
  };
  for (const caller of [bot, FIRST_OPERATOR]) {
    expect(await seenCall({ calls }, caller, call.id, makeRoom)).toBe(call);
    expect(await seenBlob(files, caller, 'b', makeRoom)).toBe(blob);
  }
  expect(room).toEqual([7, 5, 7, 5]);
  for (const caller of [other, phone]) {
    expect(await seenCall({ calls }, caller, call.id, makeRoom)).toBeUndefined();
    expect(await seenBlob(files, caller, 'b', makeRoom)).toBeUndefined();
  }
  // Whose a call is, its record says; that of a blob is not read.
  expect(room.slice(4)).toEqual([7, 7]);
});

test('a person who uses a door for programs reads which token opens it', () => {
  const refusal = refuseCaller(PROGRAMS, FIRST_OPERATOR);
  expect(refusal?.message).toMatch(/role "admin".*for programs.*kind "agent".*POST \/v1\/tokens/);
  expect(refuseCaller(PROGRAMS, phone)?.message).not.toContain('/v1/tokens');
});
