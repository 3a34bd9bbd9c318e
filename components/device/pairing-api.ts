import {
  type Guard,
  listOf,
  number,
  oneOf,
  optional,
  REFUSED,
  shape,
  text,
} from '#lib/client/guards/guard';
import { isRecord } from '#lib/json/is-record';
import type { JoinBody, Outcome, Workbench } from '#lib/protocol/device';

/** Why the server did not do what was asked; `unreachable`: no answer arrived. */
export interface PairingProblem {
  readonly code: string;
  /** The server's own words, in English. */
  readonly message: string;
}

export type PairingAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: PairingProblem };

export interface Looked {
  readonly workbench: Workbench;
  readonly expires_at: number;
}

/** `/api/pairing/*`, as a device uses it. Rejects only when `signal` ends it. */
export interface PairingApi {
  look(code: string): Promise<PairingAnswer<Looked>>;
  join(body: JoinBody): Promise<PairingAnswer<Looked>>;
  outcome(
    token: string,
    options?: { waitMs?: number; signal?: AbortSignal },
  ): Promise<PairingAnswer<Outcome>>;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export function createPairingApi(fetch: Fetch): PairingApi {
  const post = async <Value>(
    name: string,
    body: unknown,
    guard: Guard<Value>,
    signal?: AbortSignal,
  ): Promise<PairingAnswer<Value>> => {
    try {
      const response = await fetch(`/api/pairing/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      });
      const answer: unknown = await response.json();
      if (!response.ok) return { ok: false, problem: toProblem(response.status, answer) };
      const value = guard(answer);
      return value === REFUSED ? unreachable('the answer was not understood') : { ok: true, value };
    } catch (error) {
      signal?.throwIfAborted();
      return unreachable(String(error));
    }
  };
  return {
    look: (code) => post('look', { code }, looked),
    join: (body) => post('join', body, looked),
    outcome: (token, { waitMs = 0, signal } = {}) =>
      post('outcome', { token, wait_ms: waitMs }, outcome, signal),
  };
}

const unreachable = (message: string) =>
  ({ ok: false, problem: { code: 'unreachable', message } }) as const;

function toProblem(status: number, answer: unknown): PairingProblem {
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  return {
    code: typeof error.code === 'string' ? error.code : `http_${status}`,
    message: typeof error.message === 'string' ? error.message : '',
  };
}

const workbench = shape<Workbench>({ name: text, fingerprint: listOf(number) });
const looked = shape<Looked>({ workbench, expires_at: number });
const outcome = shape<Outcome>({
  state: oneOf('waiting', 'approved', 'denied', 'expired', 'revoked', 'unknown'),
  workbench,
  device: optional(shape({ device_id: text, client_id: text, name: text })),
  expires_at: optional(number),
});
