import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { createTokenBucket, type RateLimit } from '#lib/net/token-bucket';
import { CLOSE, type ServerMessage } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import { closeSocket } from '../sockets/close-socket.ts';
import { createCork } from '../sockets/cork.ts';
import { watchLiveness } from '../sockets/liveness.ts';
import { createOutbox } from '../sockets/outbox.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { ClientTable } from './client-table.ts';
import { parseClientFrame } from './parse-client-frame.ts';

export interface ClientSocketDeps {
  readonly sessions: ClientSessions;
  readonly table: ClientTable;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly flood: RateLimit;
  newNonce(): string;
}

/** Carries one client's messages over one socket: frames, floods, liveness, and nothing else. */
export function createClientSocketHandler(deps: ClientSocketDeps) {
  return (
    socket: WebSocket,
    { principal, stream }: { principal: Principal; stream: Duplex },
  ): void => {
    const put = createOutbox({
      socket,
      onSend: createCork(stream),
      // Back again, it finds its calls as they are.
      onFull: () => socket.terminate(),
    });
    const guard = createTokenBucket(deps.flood, deps.clock.now);
    const session = deps.sessions.open(principal, { send, close });
    const liveness = watchLiveness({
      clock: deps.clock,
      heartbeatMs: deps.heartbeatMs,
      socket,
      caps: () => (session.instanceId && deps.table.get(session.instanceId)?.caps) || [],
      probe: () => send({ type: 'probe', nonce: deps.newNonce() }),
      onChange: session.answering,
    });

    socket.on('message', (data, isBinary) => {
      // Told to go, and still talking: `ws` passes on what comes before the close is answered.
      if (socket.readyState !== socket.OPEN) return;
      liveness.heard();
      if (!guard.take())
        return close(CLOSE.policy, 'Too many messages; slow down and connect again');
      if (isBinary) return bad('Send text frames of JSON, not binary ones');
      const frame = parseClientFrame(String(data));
      if (!frame.ok) {
        bad(frame.message, frame.id);
        // An answer that is refused for good has ended its call, where that is known.
        if (frame.answer) session.receive(frame.answer);
        else if (frame.answerTo !== undefined) reject(frame.answerTo, frame.message);
        return;
      }
      session.receive(frame.message);
    });
    socket.on('close', () => {
      liveness.stop();
      session.closed();
    });

    function send(message: ServerMessage): void {
      if (socket.readyState !== socket.OPEN) return;
      // What answers a message that the server had asked for is no part of a flood.
      if (isExpected(message)) guard.giveBack();
      put(message);
    }

    function bad(message: string, id?: string): void {
      send({ type: 'error', code: 'bad_message', message, ...(id === undefined ? {} : { id }) });
    }

    /** An answer that cannot be read is refused for good: sent again, it would block its outbox for ever. */
    function reject(id: string, message: string): void {
      send({ type: 'result_rejected', id, code: 'result_invalid', message, final: true });
    }

    function close(code: number, reason: string): void {
      closeSocket(socket, code, reason);
      session.closed();
    }
  };
}

const isExpected = (message: ServerMessage): boolean =>
  message.type === 'tool_call_granted' ||
  (message.type === 'result_acknowledged' && message.disposition === 'accepted');
