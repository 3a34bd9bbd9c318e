/**
 * An object with some of its parts at hand. The rest is of a whole one, which is made when a part of
 * it is asked for: of a `Request` mostly none is, and a real one costs more than to route the
 * request. One that has a signal also has a finalizer, so that it outlives its answer until all
 * garbage is collected.
 */
export function lazily<T extends object>(
  prototype: T,
  parts: Readonly<Partial<T>>,
  make: () => T,
): T {
  let whole: T | undefined;
  return new Proxy<T>(Object.create(prototype), {
    get(_, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      whole ??= make();
      const part: unknown = Reflect.get(whole, name, whole);
      return typeof part === 'function' ? part.bind(whole) : part;
    },
  });
}
