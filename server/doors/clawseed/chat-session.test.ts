import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { RunOwner, RunRecord } from '#lib/protocol/run';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { keyedId } from '../../auth/secrets.ts';
import { serveClients } from '../../clients/testing/serve-clients.ts';
import { newRun } from '../../runs/new-run.ts';
import type { RunOutcome } from '../../runs/run-requests.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import type { DoorRunsDeps } from '../claim-run.ts';
import { openWaysIn } from '../room.ts';
import type { ServerFrame } from './chat-frames.ts';
import { ChatSession, type ChatSessionDeps } from './chat-session.ts';
import { createKeptIdentities } from './chat-tools.ts';
import { parseChatFrame } from './parse-chat-frame.ts';
import recorded from './testing/recorded-frames.json' with { type: 'json' };

type Refusal = Extract<RunOutcome, { ok: false }>;

const runOf = (sessionId: string) => keyedId('secret', 'clawseed', [sessionId]);

const DEVICE = { kind: 'device', clientId: 'client_pixel', tokenId: 'tok_pixel' } as const;

const OLGA = { token_id: 'tok_olga', name: 'operator:olga' };

/** The run of the session `made-here`. */
const begunBy = (owner: RunOwner) =>
  newRun(createManualClock(), {
    ...{ run_id: runOf('made-here'), title: 'Of another', max_steps: 10, owner },
  });

/** Real clients and calls; runs as the test gives them. */
async function setup(given: Partial<DoorRunsDeps['runs']> = {}, more: Partial<DoorRunsDeps> = {}) {
  const server = await serveClients();
  const { sessions, registry, bus, calls } = server;
  const { logger, errors } = createErrorLog();
  const asked: string[] = [];
  const refused = { ok: false, code: 'conflict', message: 'The turn is being stopped.' } as const;
  const waysIn = openWaysIn({
    runs: {
      get: async (id) => void asked.push(id),
      send: async () => refused,
      cancel: async () => refused,
      ...given,
    },
    ...{ bus, calls },
    claimRun: () => ({ ownerToken: null, ownerName: 'operator', write: async () => {} }),
    audit: { record: async () => {} },
    blobs: { put: () => Promise.reject(new Error('no files here')) },
    shownCalls: () => Promise.reject(new Error('no snapshot here')),
    key: 'secret',
    ...more,
  });
  const deps: ChatSessionDeps = {
    ...{ sessions, registry, logger, kept: createKeptIdentities(), ...waysIn },
    clock: { now: () => 0 },
    newSessionId: () => 'made-here',
  };
  /** The run of the session, as its owner begins it. */
  const publish = (owner: RunOwner) => bus.publish({ type: 'run', run: begunBy(owner) });
  const open = (caller: typeof DEVICE | typeof FIRST_OPERATOR, sessionId?: string) => {
    const frames: ServerFrame[] = [];
    const closed: number[] = [];
    const channel = {
      send: (frame: ServerFrame) => void frames.push(frame),
      dropRequest: () => {},
      close: (code: number) => void closed.push(code),
    };
    const opening = { caller: { ...caller, address: '127.0.0.1' }, sessionId, name: undefined };
    const session = new ChatSession(deps, channel, opening);
    const send = (frame: object) => session.receive(parseChatFrame(JSON.stringify(frame)));
    const codes = () => frames.flatMap((frame) => (frame.type === 'error' ? [frame.code] : []));
    return { session, frames, closed, send, codes };
  };
  return { open, publish, asked, errors, registry };
}

test('[CLS3] a device offers tools and is refused what talks to the agent; no run is looked at', async () => {
  const { open, asked, registry } = await setup();
  const { frames, send, codes } = open(DEVICE, 'a session of a person');
  expect(frames).toMatchObject([{ type: 'session_start', resumed: false, message_count: 0 }]);
  for (const frame of [recorded.message, recorded.regenerate, recorded.abort]) await send(frame);
  expect(codes()).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED']);
  await send(recorded.register_tools);
  expect(frames.at(-1)).toMatchObject({ type: 'tools_registered', count: 2, registered: 2 });
  expect(registry.find(`camera@${DEVICE.clientId}`)?.best.clientId).toBe(DEVICE.clientId);
  expect(asked).toEqual([]);
});

test('[CLS13] what the run refuses is a busy session', async () => {
  const { open } = await setup();
  const { send, codes } = open(FIRST_OPERATOR);
  await send(recorded.connect);
  await send(recorded.message);
  expect(codes()).toEqual(['SESSION_BUSY']);
});

test('[CLS13] of the messages that come at once 8 wait, and the others are refused at once', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<Refusal>();
  const { open } = await setup({ send: () => held });
  const { send, codes } = open(FIRST_OPERATOR);
  await send(recorded.connect);
  const all = Array.from({ length: 10 }, () => send(recorded.message));
  expect(codes()).toEqual(['SESSION_BUSY', 'SESSION_BUSY']);
  release({ ok: false, code: 'bad_request', message: 'no' });
  await Promise.all(all);
  expect(codes().slice(2)).toEqual(Array(8).fill('INVALID_MESSAGE'));
});

test('[CLS1] a message to a session of another token is not sent, and ends the connection', async () => {
  const sent: string[] = [];
  const write = async () => void sent.push('write');
  const claimRun = () => ({ ownerToken: 'tok_olga', ownerName: 'operator:olga', write });
  const { open } = await setup({}, { claimRun });
  const { send, codes, closed } = open(FIRST_OPERATOR);
  await send(recorded.connect);
  await send(recorded.message);
  expect([codes(), closed, sent]).toEqual([['SESSION_OWNER_MISMATCH'], [1008], []]);
});

test('[CLS1] a run that another token begins under the same session is not shown', async () => {
  const { open, publish } = await setup();
  const { send, frames, codes, closed } = open(FIRST_OPERATOR);
  await send(recorded.connect);
  publish(OLGA);
  await expect.poll(() => closed.length).toBe(1);
  expect([codes(), closed]).toEqual([['SESSION_OWNER_MISMATCH'], [1008]]);
  expect(JSON.stringify(frames)).not.toContain('Of another');
});

test('[CLS1] nothing reaches a run that another token began of which no event has come yet', async () => {
  for (const frame of [recorded.message, recorded.regenerate, recorded.abort]) {
    let run: RunRecord | undefined;
    const reached: string[] = [];
    const refused = { ok: false, code: 'conflict', message: 'no' } as const;
    const reach = async (id: string) => {
      reached.push(id);
      return refused;
    };
    const { open } = await setup({ get: async () => run, send: reach, cancel: reach });
    const { send, frames, codes, closed } = open(FIRST_OPERATOR);
    await send(recorded.connect);
    const asked = {
      ...{ message_id: 'msg_1', run_id: runOf('made-here'), status: 'done', created_at: 0 },
      ...{ role: 'user', parts: [{ type: 'text', text: 'hello' }] },
    } satisfies RunRecord['messages'][number];
    run = { ...begunBy(OLGA), status: 'running', messages: [asked] };
    await send(frame);
    expect([codes(), closed, reached]).toEqual([['SESSION_OWNER_MISMATCH'], [1008], []]);
    expect(frames.filter(({ type }) => type === 'abort_ack')).toEqual([]);
  }
});

test('[CLS4] a defect behind a message is an error of the agent, and the next one is taken', async () => {
  let count = 0;
  const get = async () => {
    count += 1;
    // The first one looks whether there is a run.
    if (count > 1) throw new Error(`defect ${count}`);
    return undefined;
  };
  const { open, errors } = await setup({ get });
  const { send, codes } = open(FIRST_OPERATOR);
  await send(recorded.connect);
  await send(recorded.abort);
  await send(recorded.abort);
  expect(codes()).toEqual(['AGENT_ERROR', 'AGENT_ERROR']);
  expect(errors.map(String)).toEqual(['Error: defect 2', 'Error: defect 3']);
});
