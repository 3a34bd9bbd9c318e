import { watchKeptTexts } from '../tool-call/kept-texts.ts';
import { tabMemory } from './stored-text.ts';

const KEY = 'callboard:reloaded_at';
/** A page whose code is still gone after it was loaded anew is not helped by one more time. */
const AGAIN_MS = 60_000;

let isAsking = false;
let hasUnsent = false;
watchKeptTexts((texts) => {
  hasUnsent = texts.size > 0;
});

/**
 * Loads the page anew where the server has its code no more, as after an upgrade: what it has not
 * fetched by then it could never fetch. The draft of a message is kept in the tab; what was written
 * on a card is not, so it comes first.
 */
export async function reloadOutdated(): Promise<void> {
  const reloadedAt = Number(tabMemory.read(KEY) ?? 0);
  if (isAsking || hasUnsent || Date.now() - reloadedAt < AGAIN_MS) return;
  isAsking = true;
  const missing = await Promise.all(ownScripts().map(isMissing)).finally(() => {
    isAsking = false;
  });
  if (!missing.includes(true) || hasUnsent) return;
  tabMemory.write(KEY, String(Date.now()));
  // Without a memory nothing would end a loop.
  if (tabMemory.read(KEY) !== null) location.reload();
}

const ownScripts = (): string[] =>
  [...document.scripts].map(({ src }) => src).filter((src) => src.includes('/_next/static/'));

/** A server that cannot be reached says nothing of its files. */
const isMissing = (src: string): Promise<boolean> =>
  fetch(src, { method: 'HEAD', cache: 'no-store' }).then(
    ({ status }) => status === 404,
    () => false,
  );
