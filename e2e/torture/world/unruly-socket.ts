import { createRandom, type Random } from '../random.ts';

/** Messages that wait to be mixed up; and how long until some of the last of them go on. */
const WINDOW = 8;
const FLUSH_MS = 4;
/** A connection begins with these, and says them once: without them there is none to mix up. */
const IN_ORDER = /^\{"type":"(hello|welcome)"/;

let sockets = 0;

/**
 * A `WebSocket` whose messages go out and come in up to three times, in another
 * order. Without a seed it is the one that Node has.
 */
export function createUnrulySocket(seed: string | undefined): typeof WebSocket {
  if (seed === undefined) return WebSocket;
  return class UnrulySocket extends WebSocket {
    readonly #listeners: ((event: Event) => void)[] = [];
    readonly #goOut: (text: string) => void;

    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      sockets += 1;
      const random = createRandom(`${seed}/${sockets}`);
      this.#goOut = createMixer(random.fork('out'), (text) => {
        if (this.readyState === WebSocket.OPEN) super.send(text);
      });
      const comeIn = createMixer(random.fork('in'), (data) => {
        if (this.readyState !== WebSocket.OPEN) return;
        for (const listener of this.#listeners) listener(new MessageEvent('message', { data }));
      });
      super.addEventListener('message', ({ data }) => comeIn(String(data)));
    }

    override send(data: Parameters<WebSocket['send']>[0]): void {
      this.#goOut(String(data));
    }

    override addEventListener(type: string, listener: EventListenerOrEventListenerObject): void {
      const listen = typeof listener === 'function' ? listener : listener.handleEvent;
      if (type === 'message') this.#listeners.push(listen);
      else super.addEventListener(type, listen);
    }
  };
}

function createMixer(random: Random, pass: (text: string) => void): (text: string) => void {
  const waiting: string[] = [];
  let willFlush = false;

  function flush(): void {
    // Some wait on, so that a copy may come when its message was answered long ago.
    const leaving = random.shuffle(waiting.filter(() => random.chance(0.4)));
    for (const text of leaving) waiting.splice(waiting.indexOf(text), 1);
    willFlush = waiting.length > 0;
    if (willFlush) setTimeout(flush, FLUSH_MS);
    for (const text of leaving) pass(text);
  }

  return (text) => {
    if (IN_ORDER.test(text)) return pass(text);
    for (let times = random.between(1, 3); times > 0; times -= 1) waiting.push(text);
    if (!willFlush) setTimeout(flush, FLUSH_MS);
    willFlush = true;
    while (waiting.length > WINDOW) {
      const [one] = waiting.splice(random.between(0, waiting.length - 1), 1);
      if (one !== undefined) pass(one);
    }
  };
}
