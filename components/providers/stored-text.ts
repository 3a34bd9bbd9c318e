/** A text kept in the browser. Reading and writing never fail: where nothing may be stored, nothing is. */
export interface StoredText {
  read(key: string): string | null;
  write(key: string, text: string | null): void;
}

/** `area` throws when the person has switched storage off; the page goes on without memory. */
function createStoredText(area: () => Storage): StoredText {
  return {
    read(key) {
      try {
        return area().getItem(key);
      } catch {
        return null;
      }
    },
    write(key, text) {
      try {
        if (text === null) area().removeItem(key);
        else area().setItem(key, text);
      } catch {
        // Full or forbidden: the choice lasts as long as the page does.
      }
    },
  };
}

/** Kept for this tab alone. */
export const tabMemory = createStoredText(() => sessionStorage);
/** Kept for this browser. */
export const browserMemory = createStoredText(() => localStorage);
