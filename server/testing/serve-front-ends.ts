import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { type Agent, type Caller, FIRST_OPERATOR } from '../auth/principal.ts';
import { Tokens } from '../auth/tokens.ts';
import { createSystemClock } from '../base/clock.ts';
import { createNewId } from '../base/new-id.ts';
import { createDiskBlobStore } from '../blobs/disk-blob-store.ts';
import { scaleForModel } from '../blobs/scale-image.ts';
import type { CallServiceDeps } from '../calls/create-call-service.ts';
import { ALLOW_ALL } from '../calls/testing/allow-all.ts';
import { openWaysIn } from '../doors/room.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { startTestServer, TOKENS } from '../http/testing/start-test-server.ts';
import { createOwnerTokens } from '../runs/testing/owner-tokens.ts';
import { openParts, serveRuns } from '../runs/testing/serve-runs.ts';
import { createCalculationEval } from '../tools/builtin/calculate.ts';
import type { AnyServerTool } from '../tools/define-tool.ts';
import { OwnTools } from '../tools/own-tools.ts';
import { createShownCalls, createSnapshots } from '../watch/snapshot.ts';
import { createScriptedOpenAI, type Script } from './scripted-openai.ts';

/** The secret of the data directory. */
export const KEY = 'the key of this directory';

/** The helper is the one of `startTestServer`, with other tools. */
const HELPER: Agent = { kind: 'agent', name: 'helper', tokenId: 'tok_helper', tools: ['echo'] };
const OLGA: Caller = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_olga' };

export interface FrontEndOptions {
  /** To start again on what another one left. */
  readonly dir?: string;
  readonly tools?: readonly AnyServerTool[];
  /** The helper may call these; `echo` where not given. */
  readonly allowed?: readonly string[];
  readonly policy?: CallServiceDeps['policy'];
  /** The script of the model `openai:scripted`; the rehearsal model is the default. */
  readonly script?: Script;
  /** True when that model sees pictures. */
  readonly images?: boolean;
}

type Parts = Pick<HttpDeps, 'runs' | 'calls' | 'bus' | 'snapshot' | 'logger' | 'audit'> &
  Awaited<ReturnType<typeof serveParts>>;

async function serveParts({ dir = tempDir(), ...options }: FrontEndOptions) {
  const openai = await createScriptedOpenAI({ script: options.script ?? (() => ({})) });
  const tools = new OwnTools([createCalculationEval(), ...(options.tools ?? [])]);
  const parts = await openParts(dir, [tools]);
  const blobs = createDiskBlobStore({ dir: join(dir, 'blobs') });
  const tokens = createOwnerTokens();
  tokens.add({ ...HELPER, tools: options.allowed ?? HELPER.tools });
  tokens.add(OLGA);
  const served = serveRuns({
    ...{ parts, tokens, openaiUrl: openai.url, policy: options.policy ?? ALLOW_ALL },
    models: {
      defaultModel: options.script ? 'openai:scripted' : 'rehearsal',
      settings: { 'openai:scripted': { images: options.images ?? false } },
    },
    agent: { images: { readBlob: (id) => blobs.read(id), scaleForModel } },
  });
  const snapshot = createSnapshots({
    ...{ ...parts, ...served, clients: () => [], publishNow: () => {} },
    devices: () => ({ asking: 0, waiting: 0 }),
  });
  const audited: string[] = [];
  const audit = {
    record: async ({ act }: { act: string }) => void audited.push(act),
    entry() {
      throw new Error('no call is made at a page here');
    },
    list: async () => ({ entries: [], next: null }),
  };
  const waysIn = openWaysIn({
    ...{ ...parts, ...served, blobs, audit, key: KEY },
    claimRun: served.known.claim,
    shownCalls: createShownCalls({ ...parts, ...served }),
  });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await served.close();
    await openai.close();
  };
  return { ...parts, ...served, snapshot, audit, audited, ...waysIn, dir, openai, blobs, close };
}

/** The tokens of the test are no rows of the store. */
class LiveTokens extends Tokens {
  override isLive(): boolean {
    return true;
  }
}

/** Real runs, calls and store behind the HTTP side on a real port; only who calls is the test's. */
export async function serveFrontEnds(
  options: FrontEndOptions,
  service: (parts: Parts) => Partial<HttpDeps>,
) {
  const parts = await serveParts(options);
  const { store, runs, calls, bus, snapshot, logger } = parts;
  const clock = createSystemClock();
  const ids = { newId: createNewId(clock.now), newSecret: () => crypto.randomUUID() };
  const tokens = new LiveTokens({ store, clock, ...ids, logger });
  const deps = { tokens, runs, calls, bus, snapshot, logger };
  onTestFinished(parts.close);
  const server = await startTestServer({ deps: { ...deps, ...service(parts) } });
  return { ...parts, server, url: `http://127.0.0.1:${server.port}` };
}

export { TOKENS };
