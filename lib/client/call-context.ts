import { LIMITS } from '../protocol/limits.ts';
import { abortable } from '../util/abortable.ts';
import type { ClientToolContext, StatusUpdate } from './client-tool.ts';
import type { ExecuteClock } from './execute-clock.ts';
import type { StatusFields, StatusThrottle } from './status-throttle.ts';

const TIP_CHARS = 2_000;

export interface CallContext extends ClientToolContext {
  /** After a new connection: says again what the server may not have heard. */
  retell(): void;
}

/** What one running call may do, made of its clock, its signal and its channel for news. */
export function createCallContext({
  callId,
  runId,
  signal,
  clock,
  news,
  onProblem,
}: {
  callId: string;
  runId: string;
  signal: AbortSignal;
  clock: ExecuteClock;
  news: StatusThrottle;
  onProblem: (message: string) => void;
}): CallContext {
  let asking = 0;

  const tellPhase = (phase: 'device' | 'granted') => {
    news.push({ phase });
    news.flush();
  };

  return {
    callId,
    runId,
    signal,
    status(update) {
      const fields = toStatusFields(update);
      if (JSON.stringify(fields).length <= LIMITS.statusBytes) return news.push(fields);
      onProblem(`${callId}: a status of more than ${LIMITS.statusBytes} bytes was cut to its tip`);
      if (fields.tip !== undefined) news.push({ tip: fields.tip });
    },
    async askDevice(ask) {
      signal.throwIfAborted();
      asking += 1;
      clock.pause();
      if (asking === 1) tellPhase('device');
      try {
        return await abortable(signal, ask());
      } finally {
        asking -= 1;
        clock.resume();
        if (asking === 0) tellPhase('granted');
      }
    },
    retell() {
      if (asking > 0) news.push({ phase: 'device' });
      news.flush();
    },
  };
}

function toStatusFields({ tip, progress, preview, params }: StatusUpdate): StatusFields {
  return {
    ...(tip === undefined ? {} : { tip: tip.slice(0, TIP_CHARS) }),
    ...(progress === undefined ? {} : { progress }),
    ...(preview === undefined ? {} : { preview }),
    ...(params === undefined ? {} : { params: { ...params } }),
  };
}
