'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import type { Message, RunSummary } from '#lib/protocol/run';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { useTurnNoticeWords } from './notice-words.ts';

/** Enough of an answer to know what it is about. */
const ANNOUNCED_CHARS = 300;

/** Says once, when a turn ends, how it ended. */
export function useRunAnnouncements(
  run: RunSummary | undefined,
  messages: readonly Message[],
): void {
  const t = useTranslations('conversation');
  const announce = useAnnounce();
  const wordsFor = useTurnNoticeWords();
  const before = useRef<{ id: string; status: string } | null>(null);
  useEffect(() => {
    const last = before.current;
    before.current = run ? { id: run.run_id, status: run.status } : null;
    if (!run || last?.id !== run.run_id || last.status !== 'running') return;
    if (run.status === 'idle') announce(t('announceDone', { text: lastText(messages) }));
    if (run.status === 'cancelled') announce(t('announceStopped'));
    if (run.status === 'failed') {
      const { code = '', message: text = '', params } = run.error ?? {};
      announce(t('announceFailed', { text: wordsFor({ code, text, params }).words }));
    }
  }, [run, messages, announce, wordsFor, t]);
}

function lastText(messages: readonly Message[]): string {
  const parts = messages.at(-1)?.parts ?? [];
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  // Marks of the formatting would be read out; an underscore within a name is none.
  return text.replace(/[*`#>|]|\b_|_\b/g, '').slice(0, ANNOUNCED_CHARS);
}
