import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The server's HTTP, as a caller uses it whose connections break all the time. */
export interface Api {
  /** Undefined when the connection broke: nobody knows what became of the request. */
  ask(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<ApiAnswer | undefined>;
  /** Every call on record. */
  records(): Promise<Map<string, WireCallRecord>>;
  /** Calls that are not final. */
  open(): Promise<WireCallRecord[]>;
}

/** No request is held longer than `wait_ms` may be. */
const TIMEOUT_MS = 35_000;

export function createApi(url: string, token: string): Api {
  async function ask(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<ApiAnswer | undefined> {
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  }

  async function* pages(query: string): AsyncGenerator<WireCallRecord> {
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await ask('GET', `/v1/tool_calls?limit=200&include=args,result${query}${at}`);
      if (answer?.status !== 200) throw new Error(`the list of calls: ${JSON.stringify(answer)}`);
      const page = answer.body as { tool_calls: unknown[]; next_cursor: string | null };
      for (const call of page.tool_calls) yield callRecordSchema.parse(call);
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  return {
    ask,
    async records() {
      const records = new Map<string, WireCallRecord>();
      for await (const call of pages('')) records.set(call.tool_call_id, call);
      return records;
    },
    async open() {
      const open: WireCallRecord[] = [];
      for (const status of ['PENDING', 'RUNNING']) {
        for await (const call of pages(`&status=${status}`)) open.push(call);
      }
      return open;
    },
  };
}
