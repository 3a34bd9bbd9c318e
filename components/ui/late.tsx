'use client';

import { useTranslations } from 'next-intl';
import { type ComponentType, type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { Button } from './button.tsx';
import { createLateCode, whenIdle } from './late-code.ts';

export interface LateOptions<Props> {
  /** Puts the words for "loading" and "failed" where the component will be. */
  frame?: (words: ReactNode) => ReactNode;
  /** A plainer way to show the same, drawn in place of these words. */
  instead?: (props: Props) => ReactNode;
}

export type LateComponent<Props> = ComponentType<Props> & {
  /** Fetches the code before it is drawn. */
  fetch(): void;
};

const notHere = () => 'loading' as const;

/**
 * A component whose code is fetched when it is first drawn. Until then it shows that it is loading,
 * and when the code cannot be had it shows that and goes on trying, at once when a person asks; drawn
 * a second time it is there at once. (React.lazy keeps a failure for good.)
 */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { frame = (words) => words, instead }: LateOptions<Props> = {},
): LateComponent<Props> {
  const late = createLateCode(load);
  // biome-ignore lint/correctness/noComponentHookFactories: made once, where a module is read, as with React.lazy.
  function Late(props: Props) {
    const state = useSyncExternalStore(late.subscribe, late.get, notHere);
    if (typeof state === 'object') return <state.code {...props} />;
    if (instead) return instead(props);
    return frame(state === 'failed' ? <LoadFailed onAgain={late.again} /> : <Loading />);
  }
  return Object.assign(Late, { fetch: late.fetch });
}

/**
 * Fetches the code of a part as soon as the page is idle, so that it is there before it is needed,
 * also when the network is down by then.
 */
export function useFetchedWhenIdle({ fetch }: Pick<LateComponent<never>, 'fetch'>): void {
  useEffect(() => whenIdle(fetch), [fetch]);
}

function Loading() {
  const common = useTranslations('common');
  return (
    <p role="status" className="text-muted">
      {common('loading')}
    </p>
  );
}

function LoadFailed({ onAgain }: { onAgain: () => void }) {
  const t = useTranslations('shell.late');
  const common = useTranslations('common');
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3">
      <p className="text-error">{t('failed')}</p>
      <Button size="sm" onClick={onAgain}>
        {common('again')}
      </Button>
    </div>
  );
}
