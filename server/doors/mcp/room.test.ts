import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { HttpError } from '#lib/protocol/http-error';
import { type ResourceDeps, readResource } from './resources.ts';
import { AGENT, OTHER, setupMcp, textOf } from './testing/setup-mcp.ts';
import { type ResultSources, toToolResult } from './tool-result.ts';

const MIB = 1024 * 1024;

const picture = (size: number, media_type = 'image/png') => ({
  ...{ blob_id: 'blob_1', media_type, size },
});

/** What was done, in order; `isFull`: too many large answers wait already. */
function setup({ size = 9 * MIB, isFull = false } = {}) {
  const done: string[] = [];
  const blob = { attachment: picture(size), bytes: Buffer.from('x') };
  const makeRoom = async (bytes: number) => {
    done.push(`room for ${Math.floor(bytes / MIB)} MiB`);
    if (isFull) throw new HttpError('rate_limited', 'Too many.');
  };
  const read = async () => {
    done.push('read');
    return blob;
  };
  const call = sampleCall({
    ownerToken: AGENT.tokenId,
    status: 'SUCCEEDED',
    result: 'x',
    attachments: [picture(size)],
  });
  const resources: ResourceDeps = {
    makeRoom,
    blobs: { read, find: async () => blob.attachment },
    history: { isBlobOf: async () => true },
    calls: {
      storedBytes: async () => size,
      get: async () => {
        done.push('read');
        return call;
      },
    },
  };
  const sources: ResultSources = {
    ...{ makeRoom, resizeRoom: () => {} },
    blobs: { read },
    scale: async (bytes) => ({ ok: true, bytes, mediaType: 'image/png' }),
  };
  const result = () => toToolResult(call, sources);
  return { done, result, read: (uri: string) => readResource(resources, AGENT, uri) };
}

test('[MP47] an attachment and a whole text have their room before they are read', async () => {
  for (const [uri, room] of [
    ['callboard://blob/blob_1', 12],
    ['callboard://call/tc_1', 9],
  ] as const) {
    const { read, done } = setup();
    await read(uri);
    expect(done).toEqual([`room for ${room} MiB`, 'read']);
    const full = setup({ isFull: true });
    await expect(full.read(uri)).rejects.toThrow('Too many');
    expect(full.done).not.toContain('read');
  }
});

test('[MP47] a result has room for its pictures, or links to them where too many wait', async () => {
  const { result, done } = setup();
  expect((await result()).content.map(({ type }) => type)).toEqual(['text', 'image']);
  expect(done).toEqual(['room for 10 MiB', 'read']);
  const full = setup({ isFull: true });
  const { content, isError } = await full.result();
  expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
  expect(isError).toBeUndefined();
  expect(full.done).not.toContain('read');
});

/** What one caller after the other does with a result that is large enough to be in the store alone. */
async function setupLarge(mayRead: () => boolean) {
  const asked: number[] = [];
  const world = await setupMcp({
    async makeRoom(bytes) {
      asked.push(bytes);
      if (!mayRead()) throw new HttpError('rate_limited', 'Too many.');
    },
  });
  const reads: string[] = [];
  const { getCall } = world.store;
  world.store.getCall = async (id) => {
    reads.push(id);
    return getCall(id);
  };
  return { ...world, reads, roomAsked: asked };
}

test('[MP53] a large result of a call has its room before it is read, or is fetched later', async () => {
  let isFull = true;
  const { call, client, asked, reads, roomAsked, sendNewest, settle } = await setupLarge(
    () => !isFull,
  );
  const answered = call('echo');
  const id = (await asked())?.id ?? '';
  client.succeed(id, 'x'.repeat(3 * MIB));
  // It was in memory at its end.
  expect(textOf(await answered)).toContain('xxx');
  await settle();
  const fetch = (agent = AGENT) => call('callboard_result', { agent, args: { call: id } });
  expect(textOf(await fetch())).toContain('in a moment');
  expect(textOf(await fetch(OTHER))).toContain('in a moment');
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const get = () => sendNewest('tasks/get', id, { taskId: id }, { extensions });
  expect((await get()).error).toMatchObject({ message: 'Too many.' });
  expect(reads).toEqual([]);
  expect(Math.min(...roomAsked)).toBeGreaterThan(3 * MIB);
  isFull = false;
  expect(textOf(await fetch()).length).toBeGreaterThan(70_000);
  expect((await get()).result).toMatchObject({ status: 'completed' });
});
