/** Requests of the old protocol that are not answered, so that a later message can cancel one. */
export interface OpenRequests {
  /** `signal` aborts when the request is cancelled; `close` once it is answered. */
  open(session: string, requestId: string | number): { signal: AbortSignal; close(): void };
  /** Does nothing where no such request is open. */
  cancel(session: string, requestId: string | number): void;
}

/** Bounded by the requests of a token that may be open. The id of a request has a type: 1 is not "1". */
export function createOpenRequests(): OpenRequests {
  const open = new Map<string, AbortController>();
  const keyOf = (session: string, id: string | number) => `${session}\n${typeof id}\n${id}`;
  return {
    open(session, requestId) {
      const key = keyOf(session, requestId);
      const controller = new AbortController();
      open.set(key, controller);
      const close = () => {
        if (open.get(key) === controller) open.delete(key);
      };
      return { signal: controller.signal, close };
    },
    cancel: (session, requestId) => open.get(keyOf(session, requestId))?.abort(),
  };
}
