/** Bounds what each, such as an address or a token, may have going on at a time. */
export function createCountOfEach(max: number) {
  const counts = new Map<string, number>();
  return {
    /** Undefined when it has too many; else a function that releases it, to be called once. */
    enter(each: string): (() => void) | undefined {
      const count = (counts.get(each) ?? 0) + 1;
      if (count > max) return undefined;
      counts.set(each, count);
      return () => {
        const left = (counts.get(each) ?? 1) - 1;
        if (left > 0) counts.set(each, left);
        else counts.delete(each);
      };
    },
  };
}
