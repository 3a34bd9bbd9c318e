import { createPushApi, type PushChoice } from '#lib/api/push-api';
import { flag, listOf, oneOf, REFUSED, shape, text } from '#lib/client/guards/guard';
import { readJson } from '#lib/json/parse-json';
import { browserMemory } from './stored-text.ts';
import type { Workbench } from './workbench-context.tsx';

const KEY = 'callboard:push';

/** What a person chose for this browser; for another person it does not count. */
interface KeptChoice extends PushChoice {
  /** Of the token, empty for that of the first run. */
  readonly by: string;
}

const keptChoice = shape<KeptChoice>({
  by: text,
  locale: oneOf('en', 'zh'),
  kinds: listOf(oneOf('approvals', 'failures')),
  details: flag,
});

const personOf = ({ me }: Workbench): string | undefined => {
  const person = me.getState().me;
  return person ? (person.token_id ?? '') : undefined;
};

export function keepPushChoice(workbench: Workbench, choice: PushChoice | null): void {
  const by = personOf(workbench);
  const kept = choice && by !== undefined ? JSON.stringify({ ...choice, by }) : null;
  browserMemory.write(KEY, kept);
}

export const forgetPushChoice = (): void => browserMemory.write(KEY, null);

/** What this person chose for this browser; null where that is nothing. */
export function readPushChoice(workbench: Workbench): PushChoice | null {
  const by = personOf(workbench);
  const kept = keptChoice(readJson(browserMemory.read(KEY) ?? 'null'));
  if (kept === REFUSED || kept.by !== by) return null;
  const { locale, kinds, details } = kept;
  return { locale, kinds, details };
}

/** Keeps notes to this browser alive, where its person turned them on. The code for it comes then. */
export function keepPushNotes(workbench: Workbench): () => void {
  let end = () => {};
  let isOver = false;
  const start = async () => {
    const choice = readPushChoice(workbench);
    if (!choice) return;
    const [{ keepPush }, { WORKBENCH_WORKER }] = await Promise.all([
      import('../push/keep-push.ts'),
      import('../push/push-browser.ts'),
    ]);
    if (!isOver) end = keepPush(createPushApi(workbench.api.request), WORKBENCH_WORKER, choice);
  };
  const stop = workbench.me.subscribe(({ me }, before) => {
    if (me === null || before.me !== null) return;
    start().catch((error: unknown) => console.warn(`push: ${String(error)}`));
  });
  return () => {
    isOver = true;
    stop();
    end();
  };
}
