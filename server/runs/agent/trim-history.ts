import type { ModelMessage } from 'ai';

/** One message of a run becomes a group: a call and its result are never in two of them. */
export interface HistoryGroup<Result> {
  readonly role: 'user' | 'assistant';
  readonly messages: readonly ModelMessage[];
  readonly results: readonly Result[];
}

/** About as much as providers count for a picture of the size that is sent. */
const IMAGE_BYTES = 5_000;
/** More is left out than must be, so that the beginning stays the same for some steps, as caches need it. */
const KEPT_SHARE = 3 / 4;

/**
 * The groups for which there is room, with a line in the place of those that are left out (AL46,
 * AL47). Left out are the oldest, whole; the person's last message and the newest group stay.
 * `roomBytes`: of UTF-8 as JSON; null for any number. `leftOut` counts the messages of the run, those
 * older than the groups among them.
 */
export function trimHistory<Result>(
  groups: readonly HistoryGroup<Result>[],
  { roomBytes, older }: { readonly roomBytes: number | null; readonly older: number },
): { readonly kept: HistoryGroup<Result>[]; readonly leftOut: number } {
  const asked = groups.findLastIndex(({ role }) => role === 'user');
  const from = roomBytes === null ? 0 : firstKept(groups, asked, roomBytes);
  const person = asked >= 0 && asked < from ? groups.slice(asked, asked + 1) : [];
  const isOlderCut = older > 0 || (asked < 0 ? from : Math.min(from, asked)) > 0;
  const isTurnCut = person.length > 0 && from > asked + 1;
  const kept = [
    ...(isOlderCut ? [OLDER_LEFT_OUT] : []),
    ...person,
    ...(isTurnCut ? [STEPS_LEFT_OUT] : []),
    ...groups.slice(from),
  ];
  return { kept, leftOut: older + from - person.length };
}

/** Goes on as if it had been asked after each group, so that it moves only where there was no room any more. */
function firstKept(
  groups: readonly Pick<HistoryGroup<unknown>, 'messages'>[],
  asked: number,
  roomBytes: number,
): number {
  const sizes = groups.map(({ messages }) => bytesOf(messages));
  let from = 0;
  let bytes = 0;
  for (const [at, size] of sizes.entries()) {
    bytes += size;
    if (bytes <= roomBytes) continue;
    for (; from < at && bytes > roomBytes * KEPT_SHARE; from += 1) {
      // It is sent in any case.
      if (from !== asked) bytes -= sizes[from] ?? 0;
    }
  }
  return from;
}

export const bytesOf = (messages: readonly ModelMessage[]): number => {
  let images = 0;
  const text = JSON.stringify(messages, function (this: unknown, key: string, value: unknown) {
    const held = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
    if (!(held instanceof Uint8Array)) return value;
    images += 1;
    return null;
  });
  return Buffer.byteLength(text) + images * IMAGE_BYTES;
};

const leftOut = (content: string): HistoryGroup<never> => ({
  role: 'user',
  messages: [{ role: 'user', content }],
  results: [],
});

/** Also for APIs that want a person's message first. */
const OLDER_LEFT_OUT = leftOut(
  '[The older messages of this conversation are left out: there is no room for them.]',
);

const STEPS_LEFT_OUT = leftOut(
  '[Your earlier steps for this message, calls with their results, are left out: there is no room for them.]',
);
