'use client';

import { useTranslations } from 'next-intl';
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';

export interface LateOptions<Props> {
  /** Puts the words for "loading" and "failed" where the component will stand. */
  frame?: (words: ReactNode) => ReactNode;
  /** A plainer way to show the same, drawn in place of these words. */
  instead?: (props: Props) => ReactNode;
}

/**
 * A component whose code is fetched when it is first drawn. Until then it says that it is loading,
 * and when the code cannot be had it says so and can be tried again; drawn a second time it is
 * there at once. (React.lazy keeps a failure for good.)
 */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { frame = (words) => words, instead }: LateOptions<Props> = {},
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  // biome-ignore lint/correctness/noComponentHookFactories: made once, where a module is read, as with React.lazy.
  function Late(props: Props) {
    const [Loaded, setLoaded] = useState(() => loaded);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (Loaded || hasFailed) return;
      let isWanted = true;
      load().then(
        (component) => {
          loaded = component;
          if (isWanted) setLoaded(() => component);
        },
        () => isWanted && setFailed(true),
      );
      return () => {
        isWanted = false;
      };
    }, [Loaded, hasFailed]);
    if (Loaded) return <Loaded {...props} />;
    if (instead) return instead(props);
    return frame(hasFailed ? <LoadFailed onAgain={() => setFailed(false)} /> : <Loading />);
  }
  return Late;
}

function Loading() {
  const t = useTranslations('shell.late');
  return (
    <p role="status" className="text-muted">
      {t('loading')}
    </p>
  );
}

function LoadFailed({ onAgain }: { onAgain: () => void }) {
  const t = useTranslations('shell.late');
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3">
      <p className="text-error">{t('failed')}</p>
      <Button size="sm" onClick={onAgain}>
        {t('again')}
      </Button>
    </div>
  );
}
