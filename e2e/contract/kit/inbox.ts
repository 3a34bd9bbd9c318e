interface Typed {
  readonly type: string;
}

/** Messages that wait until they are taken. */
export interface Inbox<M extends Typed> {
  /** All that ever came, in order. */
  readonly inbox: readonly M[];
  /** The next message of this type that was not taken; those of other types stay. */
  next<T extends M['type']>(
    type: T,
    fits?: (message: Extract<M, { type: T }>) => boolean,
  ): Promise<Extract<M, { type: T }>>;
  all<T extends M['type']>(type: T): Extract<M, { type: T }>[];
  put(messages: readonly M[]): void;
}

/** When a message does not come in time, it reports what came instead. */
export function createInbox<M extends Typed>(patienceMs: number): Inbox<M> {
  const inbox: M[] = [];
  const taken = new Set<M>();
  const listeners = new Set<() => void>();

  function next<T extends M['type']>(
    type: T,
    fits: (message: Extract<M, { type: T }>) => boolean = () => true,
  ) {
    const isWanted = (message: M): message is Extract<M, { type: T }> =>
      message.type === type && fits(message as Extract<M, { type: T }>);
    return new Promise<Extract<M, { type: T }>>((resolve, reject) => {
      const stop = () => {
        clearTimeout(tooLate);
        listeners.delete(look);
      };
      const look = () => {
        const found = inbox.filter(isWanted).find((message) => !taken.has(message));
        if (!found) return;
        stop();
        taken.add(found);
        resolve(found);
      };
      const tooLate = setTimeout(() => {
        stop();
        const had = inbox.map((message) => message.type).slice(-30);
        reject(new Error(`No "${type}" came in ${patienceMs} ms; there were: ${had.join(', ')}`));
      }, patienceMs);
      listeners.add(look);
      look();
    });
  }

  return {
    inbox,
    next,
    all: <T extends M['type']>(type: T) =>
      inbox.filter((message): message is Extract<M, { type: T }> => message.type === type),
    put(messages) {
      inbox.push(...messages);
      for (const listener of [...listeners]) listener();
    },
  };
}
