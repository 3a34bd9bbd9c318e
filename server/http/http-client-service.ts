import type { CallStatus } from '#lib/protocol/call-status';
import type { SubmitBody } from '#lib/protocol/rest';
import type { ServerMessageOf } from '#lib/protocol/server-messages';
import type { Caller } from '../auth/room.ts';
import type { Registration } from '../tools/room.ts';

export type SubmitOutcome =
  | { readonly ok: true; readonly status: CallStatus }
  | {
      readonly ok: false;
      readonly code:
        | 'call_not_found'
        | 'already_final'
        | 'permission_denied'
        | 'conflict'
        | 'bad_request';
      readonly message: string;
    };

/** The id is a client's on a socket, or was first used by another principal. */
export interface ClientIdConflict {
  readonly ok: false;
  readonly code: 'conflict';
  readonly message: string;
}

/**
 * Clients that poll over HTTP instead of holding a socket (contract, section
 * 7). The HTTP layer has checked the credential and the body's shape, and that
 * a device speaks for its own client id; whether a call may be answered by this
 * client is decided here.
 */
export interface HttpClientService {
  /** `tools` as they came: each is checked by itself. */
  register(
    principal: Caller,
    body: { readonly client_id: string; readonly tools: readonly unknown[] },
  ): Promise<
    | ({ readonly ok: true; readonly registered_count: number } & Omit<Registration, 'registered'>)
    | ClientIdConflict
  >;
  /** Resolves with at least one request, or with none after `waitMs` or when `signal` aborts. */
  requests(
    principal: Caller,
    clientId: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly requests: ServerMessageOf<'tool_call_request'>[] }
    | ClientIdConflict
  >;
  submit(principal: Caller, callId: string, body: SubmitBody): Promise<SubmitOutcome>;
}
