import type { ServerResponse } from 'node:http';
import type { Caller } from '../auth/room.ts';

export type TakeOutcome =
  | { readonly ok: true; readonly seq: number }
  | {
      readonly ok: false;
      readonly code: 'bad_request' | 'conflict' | 'not_found';
      readonly message: string;
    };

/** One client's stream, to which its requests belong. */
export interface ClientStream {
  /** What a client sends, in order; resolves when it is handled. Sent again, it is not handled again. */
  take(text: string): Promise<TakeOutcome>;
  /** Bytes of a request come in. */
  arriving(): void;
  close(code: number, reason: string): void;
}

/**
 * Clients whose messages come as Server-Sent Events and go by requests, where a socket cannot be
 * opened. The HTTP layer has checked the credential.
 */
export interface ClientStreamService {
  /** Takes the response over until it closes. */
  open(principal: Caller, outgoing: ServerResponse): ClientStream;
  /** Undefined as well for one of another principal. */
  find(principal: Caller, id: string): ClientStream | undefined;
}
