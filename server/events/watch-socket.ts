import type { WebSocket } from 'ws';
import { z } from 'zod';
import { parseJson } from '#lib/json/parse-json';
import { createTokenBucket } from '#lib/net/token-bucket';
import { CLOSE } from '#lib/protocol/server-messages';
import {
  type WatchProbeAck,
  type WatchRequest,
  watchProbeSchema,
  watchRequestSchema,
} from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { closeSocket } from '../sockets/close-socket.ts';
import { watchLiveness } from '../sockets/liveness.ts';
import type { WatchHub } from './watch-hub.ts';

/** A watcher says little: what it watches, once, and perhaps again. */
const FLOOD = { burst: 50, perSecond: 10 };
const REQUEST_LIMITS = { maxDepth: 4, maxNodes: 32 };
const messageSchema = z.union([watchRequestSchema, watchProbeSchema]);

/** Carries one watcher's feed over one socket. */
export function createWatchSocketHandler(deps: {
  hub: Pick<WatchHub, 'add'>;
  clock: Clock;
  heartbeatMs: number;
  logger: Logger;
}) {
  return (socket: WebSocket): void => {
    const guard = createTokenBucket(FLOOD, deps.clock.now);
    const liveness = watchLiveness({
      clock: deps.clock,
      heartbeatMs: deps.heartbeatMs,
      socket,
      caps: () => [],
      probe: () => {},
      onChange: () => {},
    });
    let leave: (() => void) | undefined;
    /** The newest request that nobody has begun to answer. */
    let wanted: WatchRequest | undefined;
    let isServing = false;

    socket.on('message', (data, isBinary) => {
      if (socket.readyState !== socket.OPEN) return;
      liveness.received();
      // guard: watcher-flood-limited
      if (!guard.take())
        return closeSocket(socket, CLOSE.policy, 'Too many messages; connect again');
      const request = isBinary ? undefined : parse(String(data));
      if (!request) return refuse('Send {"type":"watch"}, with run_id and since if you like');
      if (request.type === 'probe') answerProbe(request.nonce);
      else watch(request);
    });
    socket.on('close', () => {
      wanted = undefined;
      liveness.stop();
      leave?.();
    });

    const channel = {
      send: (frame: Buffer) => {
        if (socket.readyState === socket.OPEN) socket.send(frame, { binary: false });
      },
      get bufferedBytes() {
        return socket.bufferedAmount;
      },
      cutOff(reason: string) {
        closeSocket(socket, CLOSE.slow, reason);
        // It does not read, so it would not read the close frame either; free what is buffered.
        deps.clock.schedule(1_000, () => socket.terminate());
      },
    };

    /** Asked again, for a snapshot or for another run: the newest request counts. */
    function watch(request: WatchRequest): void {
      wanted = request;
      if (!isServing) serve().catch(deps.logger.error);
    }

    /** One at a time: a snapshot may be large, and fifty of them may be asked for in one packet. */
    async function serve(): Promise<void> {
      isServing = true;
      while (wanted) {
        const { run_id: runId, since, changes } = wanted;
        wanted = undefined;
        leave?.();
        leave = undefined;
        const request = given({ runId, since, changes });
        const cancel = await deps.hub.add(channel, request).catch((error: unknown) => {
          deps.logger.error(error);
          return undefined;
        });
        if (socket.readyState === socket.CLOSED) cancel?.();
        else leave = cancel;
      }
      isServing = false;
    }

    function answerProbe(nonce: string): void {
      const answer: WatchProbeAck = { type: 'probe_ack', nonce };
      socket.send(JSON.stringify(answer));
    }

    function refuse(message: string): void {
      socket.send(JSON.stringify({ type: 'error', code: 'bad_message', message }));
    }
  };
}

function parse(text: string) {
  const parsed = parseJson(text, REQUEST_LIMITS);
  const checked = parsed.ok ? messageSchema.safeParse(parsed.value) : undefined;
  return checked?.success ? checked.data : undefined;
}
