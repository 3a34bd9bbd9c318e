import { useTranslations } from 'next-intl';
import type { HookNote } from '#lib/protocol/card';
import { MarkedText } from '../ui/marked-text.tsx';

/** What hooks of the configuration did to the call, a line for each. */
export function CardHooks({ notes }: { notes: readonly HookNote[] }) {
  const t = useTranslations('card.hook');
  return (
    <ul className="mt-1 text-xs text-muted wrap-anywhere" data-testid="card-hooks">
      {notes.map(({ name, did, keys = [] }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: notes are added at the end and never moved.
        <li key={at}>
          <MarkedText text={t(did, { name, keys: keys.join(', ') || '–' })} />
        </li>
      ))}
    </ul>
  );
}
