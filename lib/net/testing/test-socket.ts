import type { Socket, SocketEnvironment } from '../environment.ts';

type Listeners = {
  open: () => void;
  message: (event: { data: unknown }) => void;
  close: (event: { code: number; reason: string }) => void;
};

/** A socket whose other end is the test. */
function createTestSocket() {
  const listeners = new Map<string, (event: never) => void>();
  const sent: unknown[] = [];
  let closedWith: number | undefined;
  const emit = <T extends keyof Listeners>(type: T, ...args: Parameters<Listeners[T]>) => {
    const listener = listeners.get(type) as ((...given: typeof args) => void) | undefined;
    listener?.(...args);
  };
  const socket: Socket = {
    send: (text) => sent.push(JSON.parse(text)),
    close: (code) => {
      closedWith = code;
    },
    addEventListener: (type: string, listener: (event: never) => void) =>
      listeners.set(type, listener),
  };
  return {
    socket,
    sent,
    get closedWith() {
      return closedWith;
    },
    open: () => emit('open'),
    receive: (message: unknown) => emit('message', { data: JSON.stringify(message) }),
    receiveRaw: (data: unknown) => emit('message', { data }),
    lose: (code = 1006) => emit('close', { code, reason: '' }),
  };
}

/** Sockets, time, chance and signs of waking up in the hands of a test. */
export function createTestWorld() {
  const sockets: ReturnType<typeof createTestSocket>[] = [];
  const timers = new Set<{ at: number; fire: () => void }>();
  const clock = { now: 1_000_000 };
  const wakeListeners = new Set<() => void>();
  const putAwayListeners = new Set<() => void>();
  const listenIn = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const environment: SocketEnvironment = {
    openSocket: () => {
      const made = createTestSocket();
      sockets.push(made);
      return made.socket;
    },
    now: () => clock.now,
    random: () => 0.5,
    newId: () => 'nonce',
    schedule: (ms, fire) => {
      const timer = { at: clock.now + ms, fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    onWake: listenIn(wakeListeners),
    onPutAway: listenIn(putAwayListeners),
  };
  return {
    environment,
    clock,
    sockets,
    /** The socket of the latest attempt. */
    get socket() {
      const last = sockets.at(-1);
      if (!last) throw new Error('No socket was opened.');
      return last;
    },
    pass: (ms: number) => {
      clock.now += ms;
      for (const timer of [...timers]) {
        if (timer.at > clock.now) continue;
        timers.delete(timer);
        timer.fire();
      }
    },
    wake: () => {
      for (const listener of wakeListeners) listener();
    },
    putAway: () => {
      for (const listener of putAwayListeners) listener();
    },
  };
}
