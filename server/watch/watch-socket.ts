import type { WebSocket } from 'ws';
import { z } from 'zod';
import { parseJson } from '#lib/json/parse-json';
import { TokenBucket } from '#lib/limits/token-bucket';
import { CLOSE } from '#lib/protocol/server-messages';
import {
  type EndedPart,
  endedRequestSchema,
  type WatchProbeAck,
  type WatchRequest,
  watchProbeSchema,
  watchRequestSchema,
} from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CallService } from '../calls/room.ts';
import { closeSocket, watchLiveness } from '../sockets/room.ts';
import { createEndedParts, type TakeEnded } from './ended-parts.ts';
import type { WatcherChannel, WatchHub } from './watch-hub.ts';

/** A watcher says little: what it watches, once, and perhaps again. */
const FLOOD = { burst: 50, perSecond: 10 };
const REQUEST_LIMITS = { maxDepth: 4, maxNodes: 32 };
const messageSchema = z.union([watchRequestSchema, endedRequestSchema, watchProbeSchema]);
/** Above this a watcher that asks for parts and reads none is cut off. */
const UNREAD_PARTS_BYTES = 2 * 1024 * 1024;

export interface WatchSocketDeps {
  readonly hub: Pick<WatchHub, 'add'>;
  /** Ended calls are sent by parts to a watcher that asks for them. */
  readonly calls: Pick<CallService, 'watched'>;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly logger: Logger;
}

export function createWatchSocketHandler(deps: WatchSocketDeps): (socket: WebSocket) => void {
  const takeEnded = createEndedParts(deps.calls);
  return (socket) => new WatchConnection(socket, deps, takeEnded).open();
}

/** Carries one watcher's feed over one socket. */
class WatchConnection implements WatcherChannel {
  readonly #socket: WebSocket;
  readonly #deps: WatchSocketDeps;
  readonly #takeEnded: TakeEnded;
  #leave: (() => void) | undefined;
  /** The newest request that is not served yet. */
  #wanted: WatchRequest | undefined;
  #isServing = false;

  constructor(socket: WebSocket, deps: WatchSocketDeps, takeEnded: TakeEnded) {
    this.#socket = socket;
    this.#deps = deps;
    this.#takeEnded = takeEnded;
  }

  open(): void {
    const { clock, heartbeatMs } = this.#deps;
    const socket = this.#socket;
    const guard = new TokenBucket(FLOOD, clock.now);
    const nothing = { caps: () => [], probe: () => {}, onChange: () => {} };
    const liveness = watchLiveness({ clock, heartbeatMs, socket, ...nothing });
    socket.on('message', (data, isBinary) => {
      if (socket.readyState !== socket.OPEN) return;
      liveness.received();
      // guard: watcher-flood-limited
      if (!guard.take())
        return closeSocket(socket, CLOSE.policy, 'Too many messages; connect again');
      this.#receive(isBinary ? undefined : parse(String(data)));
    });
    socket.on('close', () => {
      this.#wanted = undefined;
      liveness.stop();
      this.#leave?.();
    });
  }

  send(frame: Buffer): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame, { binary: false });
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  cutOff(reason: string): void {
    closeSocket(this.#socket, CLOSE.slow, reason);
    // It does not read, so it would not read the close frame either; free what is buffered.
    this.#deps.clock.schedule(1_000, () => this.#socket.terminate());
  }

  #receive(request: ReturnType<typeof parse>): void {
    if (!request) {
      return this.#refuse('Send {"type":"watch"}, with run_id and since if you like');
    }
    if (request.type === 'ended') return this.#sendEnded(request.from);
    if (request.type === 'probe') return this.#answer({ type: 'probe_ack', nonce: request.nonce });
    // Asked again, for a snapshot or for another run: the newest request counts.
    this.#wanted = request;
    if (!this.#isServing) this.#serve().catch(this.#deps.logger.error);
  }

  #sendEnded(from: string): void {
    const part = this.#takeEnded(from);
    if (!part) {
      return this.#refuse('Send as from what rest.ended of a snapshot, or next of a part, was');
    }
    if (this.bufferedBytes > UNREAD_PARTS_BYTES) return this.cutOff('Too slow: connect again');
    this.#answer(part);
  }

  #refuse(message: string): void {
    this.#answer({ type: 'error', code: 'bad_message', message });
  }

  /** One at a time: a snapshot may be large, and fifty of them may be asked for in one packet. */
  async #serve(): Promise<void> {
    const { hub, logger } = this.#deps;
    this.#isServing = true;
    while (this.#wanted) {
      const { run_id: runId, since, changes, parts } = this.#wanted;
      this.#wanted = undefined;
      this.#leave?.();
      this.#leave = undefined;
      const added = hub.add(this, given({ runId, since, changes, parts }));
      const cancel = await added.catch((error: unknown) => void logger.error(error));
      if (this.#socket.readyState === this.#socket.CLOSED) cancel?.();
      else this.#leave = cancel ?? undefined;
    }
    this.#isServing = false;
  }

  #answer(message: Answer): void {
    this.#socket.send(JSON.stringify(message));
  }
}

type Answer =
  | WatchProbeAck
  | EndedPart
  | { readonly type: 'error'; readonly code: 'bad_message'; readonly message: string };

function parse(text: string) {
  const parsed = parseJson(text, REQUEST_LIMITS);
  const checked = parsed.ok ? messageSchema.safeParse(parsed.value) : undefined;
  return checked?.success ? checked.data : undefined;
}
