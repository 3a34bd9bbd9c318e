/** Whether calls are taken, and if not, why: the answer of `/readyz`. */
export function readiness(storeFailed: boolean, stopping: boolean) {
  if (stopping)
    return { ok: false, code: 'shutting_down', message: 'The server is stopping' } as const;
  if (!storeFailed) return { ok: true } as const;
  const message = 'The record cannot be written; the server accepts no calls until it is restarted';
  return { ok: false, code: 'store_failed', message } as const;
}
