'use client';

import { Command } from 'cmdk';
import { useRouter } from 'next/navigation';
import { useLocale, useTranslations } from 'next-intl';
import { formatRelativeTime } from '#lib/format/format-relative-time';
import { jsonLine } from '#lib/format/json-preview';
import type { ListedCall } from '#lib/protocol/call-record';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useRevealCall, useUi } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { serverNow } from '../ui/server-clock.ts';
import { FOUND_PREFIX } from './palette-match.ts';
import type { FoundCalls } from './use-found-calls.ts';

export interface PaletteCallsProps {
  found: FoundCalls;
  className: string;
  /** Closes the palette, then runs what was chosen. */
  choose: (run: () => void) => () => void;
}

/** Calls of the history that have the typed words; one that is chosen is shown in its conversation. */
export function PaletteCalls({ found, className, choose }: PaletteCallsProps) {
  const t = useTranslations('shell.palette');
  const locale = useLocale();
  const router = useRouter();
  const reveal = useRevealCall();
  const show = useUi((state) => state.show);
  if (found.state !== 'ready' || found.calls.length === 0) return null;
  const open = (call: ListedCall) => {
    router.push(`/?run=${encodeURIComponent(call.run_id)}`);
    show('live');
    reveal(call.tool_call_id);
  };
  return (
    <Command.Group heading={t('calls')} className={className}>
      {found.calls.map((call) => (
        <Command.Item
          key={call.tool_call_id}
          value={`${FOUND_PREFIX}${call.tool_call_id}`}
          onSelect={choose(() => open(call))}
          className="menu-item"
        >
          <span className="mono shrink-0 font-semibold">{call.tool_name}</span>
          <span className="min-w-0 flex-1 truncate text-muted">
            <MarkedText text={jsonLine(call.args, 120)} />
          </span>
          <span className="shrink-0 text-xs text-muted">
            {formatRelativeTime(call.created_at * 1_000, serverNow(), locale)}
          </span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Whether calls are looked for still, or could not be. */
export function PaletteSearchState({ found }: { found: FoundCalls }) {
  const t = useTranslations('shell.palette');
  const formatFailure = useFormatFailure();
  return (
    <div role="status">
      {found.state === 'loading' && <p className="px-2.5 py-2 text-muted">{t('searching')}</p>}
      {found.state === 'failed' && (
        <p className="px-2.5 py-2 text-error">
          {t('searchFailed', { reason: formatFailure(found.failure) })}
        </p>
      )}
    </div>
  );
}
