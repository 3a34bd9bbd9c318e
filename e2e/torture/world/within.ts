/** It gives what comes of a promise, or an error that names what did not come in time. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what}: not within ${ms} ms`)), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
