'use client';

import { useTranslations } from 'next-intl';
import { useChosenModel, useIsViewer, useModels, useTab } from '../providers/workbench-context.tsx';

const STARTERS = ['screenshot', 'device', 'sum'] as const;

/** The first thing one sees: what this is, and three things that work right away. */
export function EmptyConversation({ onStart }: { onStart: (text: string) => void }) {
  const t = useTranslations('conversation.empty');
  const isViewer = useIsViewer();
  return (
    <div className="mx-auto w-full max-w-md space-y-4 py-6">
      <div className="space-y-1">
        <h3 className="text-lg font-bold">{t('title')}</h3>
        <p className="text-muted">{t('text')}</p>
      </div>
      {!isViewer && <Starters onStart={onStart} />}
      {!isViewer && <TabOffer />}
    </div>
  );
}

function Starters({ onStart }: { onStart: (text: string) => void }) {
  const t = useTranslations('conversation.empty');
  const chosen = useChosenModel();
  // Another model needs its key or its server.
  const isRehearsal = useModels().some((one) => one.model === chosen && one.rehearsal);
  return (
    <div className="space-y-2">
      <p className="font-medium">{t(isRehearsal ? 'startersAlone' : 'starters')}</p>
      <ul className="space-y-2">
        {STARTERS.map((name) => (
          <li key={name}>
            <button
              type="button"
              onClick={() => onStart(t(name))}
              className="btn w-full justify-start whitespace-normal px-3 py-2 text-left"
            >
              {t(name)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What this very tab can do for the agent. */
function TabOffer() {
  const t = useTranslations('conversation.empty');
  const { status, tools } = useTab();
  if (tools.length === 0) return <p className="text-muted">{t('offersNone')}</p>;
  return (
    <div className="space-y-1.5 text-muted">
      <p>{t(status === 'registered' ? 'offers' : 'offering', { count: tools.length })}</p>
      <ul className="flex flex-wrap gap-1.5">
        {tools.map((name) => (
          <li key={name} className="mono rounded border border-line bg-surface px-1.5 text-fg">
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
