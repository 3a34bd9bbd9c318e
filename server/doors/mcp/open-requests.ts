/**
 * Requests of the old protocol that are not answered, so that a later message can cancel one. They
 * are bounded by the requests of a token that may be open. The id of a request has a type: 1 is not
 * "1".
 */
export function createOpenRequests() {
  const open = new Map<string, AbortController>();
  const keyOf = (session: string, id: string | number) => `${session}\n${typeof id}\n${id}`;
  return {
    /** `signal` aborts when the request is cancelled; `close` once it is answered. */
    open(session: string, requestId: string | number) {
      const key = keyOf(session, requestId);
      const controller = new AbortController();
      open.set(key, controller);
      const close = () => {
        if (open.get(key) === controller) open.delete(key);
      };
      return { signal: controller.signal, close };
    },
    /** Does nothing where no such request is open. */
    cancel: (session: string, requestId: string | number) =>
      open.get(keyOf(session, requestId))?.abort(),
  };
}

export type OpenRequests = ReturnType<typeof createOpenRequests>;
