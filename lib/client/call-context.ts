import { LIMITS } from '../protocol/limits.ts';
import { abortable } from '../util/abortable.ts';
import type { ClientToolContext, StatusUpdate } from './client-tool.ts';
import type { ExecuteClock } from './execute-clock.ts';
import type { StatusFields, StatusThrottle } from './status-throttle.ts';

const TIP_CHARS = 2_000;

export interface CallContext extends ClientToolContext {
  /** After a new connection: sends again what the server may not have received. */
  resendStatus(): void;
}

/** What one running call may do: a context of its clock, its signal and its status updates. */
export function createCallContext({
  callId,
  runId,
  requestedBy,
  signal,
  clock,
  statusUpdates,
  onProblem,
}: {
  callId: string;
  runId: string;
  requestedBy: string | undefined;
  signal: AbortSignal;
  clock: ExecuteClock;
  statusUpdates: StatusThrottle;
  onProblem: (message: string) => void;
}): CallContext {
  let asking = 0;

  const sendPhase = (phase: 'device' | 'granted') => {
    statusUpdates.push({ phase });
    statusUpdates.flush();
  };

  return {
    callId,
    runId,
    requestedBy,
    signal,
    status(update) {
      const fields = toStatusFields(update);
      if (JSON.stringify(fields).length <= LIMITS.statusBytes) return statusUpdates.push(fields);
      onProblem(`${callId}: a status of more than ${LIMITS.statusBytes} bytes was cut to its tip`);
      if (fields.tip !== undefined) statusUpdates.push({ tip: fields.tip });
    },
    async askDevice(ask) {
      signal.throwIfAborted();
      asking += 1;
      clock.pause();
      if (asking === 1) sendPhase('device');
      try {
        return await abortable(signal, ask());
      } finally {
        asking -= 1;
        clock.resume();
        if (asking === 0) sendPhase('granted');
      }
    },
    resendStatus() {
      if (asking > 0) statusUpdates.push({ phase: 'device' });
      statusUpdates.flush();
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
