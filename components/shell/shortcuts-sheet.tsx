'use client';

import { useTranslations } from 'next-intl';
import { useIsViewer, useUi } from '../providers/workbench-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { PAGES } from './pages.ts';
import { useSingleKeys } from './use-single-keys.ts';

const KEYS = [
  ['palette', '⌘K / Ctrl K'],
  ['message', '/'],
  ['send', 'Enter'],
  ['newline', 'Shift Enter'],
  ['stop', 'Esc'],
  ...PAGES.map(({ name, key }) => [name, `g ${key}`] as const),
  ['chat', '['],
  ['live', ']'],
  ['cards', 'j k'],
  ['card', 'o c'],
  ['decide', 'a d'],
  ['end', 'x r'],
  ['sheet', '?'],
] as const;

/** Of what a viewer may not do. */
const OF_OPERATORS = new Set<string>(['message', 'send', 'newline', 'stop', 'decide', 'end']);

/** Every key that does something for the person, and the switch for the single ones (WCAG 2.1.4). */
export function ShortcutsSheet() {
  const t = useTranslations('shell');
  const common = useTranslations('common');
  const close = useUi((state) => state.open);
  const { on, set } = useSingleKeys();
  const isViewer = useIsViewer();
  const keys = KEYS.filter(([name]) => !(isViewer && OF_OPERATORS.has(name)));
  return (
    <Dialog
      open
      onOpenChange={() => close(null)}
      title={t('keys.title')}
      description={t('keys.hint')}
      closeLabel={common('close')}
    >
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-1.5">
        {keys.map(([name, keys]) => (
          <div key={name} className="contents">
            <dt>{t(`keys.${name}`)}</dt>
            <dd>
              <Kbd>{keys}</Kbd>
            </dd>
          </div>
        ))}
      </dl>
      <label className="mt-4 flex min-h-6 items-center gap-2">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => set(event.target.checked)}
          className="size-4 accent-accent"
        />
        {t('keys.enabled')}
      </label>
    </Dialog>
  );
}
