import type { PairedDevice } from './device-memory.ts';
import type { DeviceState } from './device-store.ts';
import type { PairingApi } from './pairing-api.ts';

/**
 * One step of the examination. `unsure`: a step before it failed, so this one cannot be known.
 * `limited`: it works, and less well than it could.
 */
export interface ExaminedStep {
  readonly name: 'secure' | 'server' | 'clock' | 'token' | 'line' | 'permission';
  readonly state: 'ok' | 'failed' | 'unsure' | 'limited';
  /** Of `server` milliseconds, of `clock` seconds, of `line` the transport, or the state that it fails in, of `permission` the tool. */
  readonly detail?: string | number;
  /** Of `permission`: the browser has not been asked yet. */
  readonly isAsked?: boolean;
}

export interface ExamineParts {
  readonly kept: PairedDevice;
  readonly api: PairingApi;
  readonly device: Pick<DeviceState, 'connection' | 'transport' | 'permissions'>;
  readonly isSecureContext: boolean;
  fetch(url: string, init: RequestInit): Promise<Response>;
  now(): number;
}

/** More than this and deadlines that people are shown are wrong. */
const CLOCK_TOLERANCE_S = 30;

/** Looks at each part of the way to the server, from the page outwards (DP15). */
export async function examine(parts: ExamineParts): Promise<ExaminedStep[]> {
  const { isSecureContext, device } = parts;
  const reached = await reachServer(parts);
  return [
    { name: 'secure', state: isSecureContext ? 'ok' : 'failed' },
    ...reached,
    await checkToken(parts),
    checkLine(device.connection.state, device.transport),
    ...Object.entries(device.permissions).map(([tool, permission]): ExaminedStep => {
      const isAsked = permission === 'prompt';
      const state = permission === 'denied' ? 'failed' : 'ok';
      return { name: 'permission', state, detail: tool, isAsked };
    }),
  ];
}

async function reachServer({ fetch, now }: ExamineParts): Promise<ExaminedStep[]> {
  const askedAt = now();
  try {
    const { headers } = await fetch('/healthz', { cache: 'no-store' });
    const ms = Math.max(0, now() - askedAt);
    const server: ExaminedStep = { name: 'server', state: 'ok', detail: ms };
    return [server, checkClock(headers.get('date'), askedAt + ms / 2)];
  } catch {
    return [
      { name: 'server', state: 'failed' },
      { name: 'clock', state: 'unsure' },
    ];
  }
}

/** The header has whole seconds, so half of one is what it means at best. */
function checkClock(date: string | null, nowMs: number): ExaminedStep {
  const serverMs = Date.parse(date ?? '') + 500;
  if (Number.isNaN(serverMs)) return { name: 'clock', state: 'unsure' };
  const apart = Math.round(Math.abs(nowMs - serverMs) / 1_000);
  return { name: 'clock', state: apart > CLOCK_TOLERANCE_S ? 'failed' : 'ok', detail: apart };
}

async function checkToken({ api, kept }: ExamineParts): Promise<ExaminedStep> {
  const answer = await api.outcome(kept.token);
  if (!answer.ok) return { name: 'token', state: 'unsure' };
  return { name: 'token', state: answer.value.state === 'approved' ? 'ok' : 'failed' };
}

function checkLine(
  state: DeviceState['connection']['state'],
  transport: DeviceState['transport'],
): ExaminedStep {
  if (state !== 'connected') return { name: 'line', state: 'failed', detail: state };
  // A stream is taken only after sockets were refused.
  if (transport === 'stream') return { name: 'line', state: 'limited', detail: transport };
  return { name: 'line', state: 'ok', detail: transport ?? 'socket' };
}
