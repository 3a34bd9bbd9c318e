import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { type RunRecord, runRecordSchema } from '#lib/protocol/run';
import { type Answered, type Asked, ask as askOnce } from '../../contract/kit/ask.ts';
import type { Address } from '../../start-callboard.ts';
import { until } from './until.ts';
import { createWitness, type Witness } from './witness.ts';

/** No request is held longer than `wait_ms` may be. */
const TIMEOUT_MS = 35_000;
const LONGEST_WAIT_MS = 30_000;

/** Fields of a request to invoke a tool. */
export interface Invocation {
  readonly run_id?: string;
  readonly args?: object;
  readonly client?: string | undefined;
  readonly timeout_ms?: number;
  readonly wait_ms?: number;
}

/** The server's HTTP, as a caller uses it whose connections break all the time. */
export type Api = ReturnType<typeof createApi>;

/** The witness knows of each call that was accepted, and of each end that was read. */
export function createApi(server: Address, witness: Witness = createWitness()) {
  const agent = new Agent({ keepAlive: true });

  /** Undefined when the connection broke: nobody knows what became of the request. */
  const ask = (method: string, path: string, asked: Asked = {}): Promise<Answered | undefined> =>
    askOnce(server, method, path, {
      ...asked,
      agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => undefined);

  async function must(method: string, path: string, body?: object): Promise<Answered> {
    const answer = await ask(method, path, { body });
    if (answer && answer.status < 300) return answer;
    throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`);
  }

  const send = (tool: string, nonce: string, key: string | undefined, more: Invocation) =>
    ask('POST', `/v1/tools/${tool}/invoke`, {
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body: {
        run_id: 'run_torture',
        ...more,
        // The server's own tools have a dot in their names, and take no more than they need.
        args: tool.includes('.') ? more.args : { nonce, ...more.args },
      },
    });

  /** Undefined when it was not accepted. Of one key there is one call, however often it is asked for. */
  async function tryInvoke(tool: string, key: string, more: Invocation = {}) {
    const answer = await send(tool, key, key, { run_id: `run_${key}`, ...more });
    return accepted(answer, { key, tool, nonce: key });
  }

  async function invoke(tool: string, { key, ...more }: Invocation & { key?: string } = {}) {
    const nonce = key ?? randomUUID();
    const answer = await send(tool, nonce, key, more);
    const id = accepted(answer, { key: nonce, tool, nonce });
    if (id !== undefined) return id;
    throw new Error(`${tool} was not accepted: ${answer?.status} ${answer?.text}`);
  }

  function accepted(answer: Answered | undefined, call: Parameters<Witness['accepted']>[1]) {
    if (answer?.status !== 202 && answer?.status !== 200) return undefined;
    const { tool_call_id: id } = answer.body as { tool_call_id: string };
    witness.accepted(id, call);
    if (answer.status === 200) witness.saw(callRecordSchema.parse(answer.body));
    return id;
  }

  async function tryRead(id: string, waitMs = 0): Promise<WireCallRecord | undefined> {
    const answer = await ask('GET', `/v1/tool_calls/${id}?wait_ms=${Math.round(waitMs)}`);
    if (answer?.status !== 200) return undefined;
    const record = callRecordSchema.parse(answer.body);
    witness.saw(record);
    return record;
  }

  async function read(id: string, waitMs = 0): Promise<WireCallRecord> {
    const record = await tryRead(id, waitMs);
    if (!record) throw new Error(`${id} cannot be read`);
    return record;
  }

  async function* pages(query: string): AsyncGenerator<WireCallRecord> {
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/v1/tool_calls?limit=200&include=args,result${query}${at}`;
      const { body } = await must('GET', path);
      const page = body as { tool_calls: unknown[]; next_cursor: string | null };
      for (const call of page.tool_calls) yield callRecordSchema.parse(call);
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  async function run(id: string): Promise<RunRecord | undefined> {
    const answer = await ask('GET', `/v1/runs/${id}`);
    return answer?.status === 200 ? runRecordSchema.parse(answer.body) : undefined;
  }

  /** The names of the tools that may be called; of `/api/tools` of all that are registered. */
  async function tools(path = '/v1/tools'): Promise<string[]> {
    const answer = await ask('GET', path);
    const { tools: all = [] } = (answer?.body ?? {}) as { tools?: { name: string }[] };
    return all.map(({ name }) => name);
  }

  return {
    ask,
    must,
    tryInvoke,
    invoke,
    tryRead,
    read,
    run,
    tools,
    /** The call once it is final, or as it is after `ms`; over connections that break. */
    async end(id: string, ms: number): Promise<WireCallRecord> {
      const giveUpAt = performance.now() + ms;
      for (;;) {
        const left = Math.max(0, giveUpAt - performance.now());
        const record = await tryRead(id, Math.min(LONGEST_WAIT_MS, left));
        if (record && (isFinalStatus(record.status) || left === 0)) return record;
        if (left === 0) throw new Error(`${id} cannot be read`);
      }
    },
    cancel: (id: string) => ask('POST', `/v1/tool_calls/${id}/cancel`, { body: {} }),
    /** Waits for a client that is on its way, however slow the machine is. */
    async untilListed(...names: readonly string[]): Promise<void> {
      const areListed = async () => {
        const listed = await tools();
        return names.every((name) => listed.includes(name));
      };
      if (!(await until(areListed))) throw new Error(`not all of ${names.join(', ')} are listed`);
    },
    /** Every call on record. */
    async records(): Promise<Map<string, WireCallRecord>> {
      const records = new Map<string, WireCallRecord>();
      for await (const call of pages('')) records.set(call.tool_call_id, call);
      return records;
    },
    /** Calls that are not final. */
    async open(): Promise<WireCallRecord[]> {
      const open: WireCallRecord[] = [];
      for (const status of ['PENDING', 'RUNNING']) {
        for await (const call of pages(`&status=${status}`)) open.push(call);
      }
      return open;
    },
    async startRun(body: object): Promise<string> {
      return runRecordSchema.parse((await must('POST', '/v1/runs', body)).body).run_id;
    },
    /** False when one is running still. */
    untilRunsEnd: (ids: Iterable<string>) =>
      until(async () => {
        const all = await Promise.all([...ids].map(run));
        return all.every((one) => one?.status !== 'running');
      }),
  };
}
