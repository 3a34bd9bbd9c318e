'use client';

import { useTranslations } from 'next-intl';
import { LIMIT_NOTICES } from '#lib/protocol/notice-codes';
import type { Message, RunSummary } from '#lib/protocol/run';
import { useIsViewer, useModels } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from './notice.tsx';
import { useTurnNoticeWords } from './notice-words.ts';
import type { Resending } from './use-resend.ts';

const LIMITS: ReadonlySet<string> = new Set(LIMIT_NOTICES);
const isLimit = (code: string): boolean => LIMITS.has(code);

export interface RunEndProps {
  run: RunSummary;
  messages: readonly Message[];
  onSend: (text: string) => void;
  resend: Resending['resend'];
}

/**
 * How a turn was stopped, failed or came to a limit, with what to do next at hand. Its last message may end with
 * that notice already, where it stays when the conversation goes on: it is not shown a second time.
 */
export function RunEnd({ run, messages, onSend, resend }: RunEndProps) {
  const t = useTranslations('conversation');
  const wordsFor = useTurnNoticeWords();
  // A sub-agent takes no messages.
  const mayWrite = !useIsViewer() && run.parent === undefined;
  const rehearsal = useModels().find((one) => one.rehearsal);
  const asked = messages.findLast((message) => message.role === 'user');
  // A message that no step has read stands behind the end of the turn.
  const last = messages.findLast(({ role }) => role === 'assistant')?.parts.at(-1);
  const isAnnounced = (code: string) => last?.type === 'notice' && last.code === code;
  if (run.status === 'cancelled') {
    return isAnnounced('cancelled') ? null : (
      <Notice code="cancelled" isQuiet words={t('stopped')} />
    );
  }
  if (run.status === 'idle' && last?.type === 'notice' && isLimit(last.code)) {
    return !mayWrite ? null : (
      <Button size="sm" onClick={() => onSend(t('goOnWords'))}>
        {t('goOn')}
      </Button>
    );
  }
  if (run.status !== 'failed' || !run.error) return null;
  const { code, message, params } = run.error;
  const next = asked && mayWrite && (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" onClick={() => void resend(asked.message_id)}>
        {t('retry')}
      </Button>
      {rehearsal && run.model !== rehearsal.model && (
        <Button size="sm" onClick={() => void resend(asked.message_id, { model: rehearsal.model })}>
          {t('useRehearsal')}
        </Button>
      )}
    </div>
  );
  if (isAnnounced(code)) return next;
  return (
    <Notice code={code} words={wordsFor({ code, text: message, params })}>
      {next}
    </Notice>
  );
}
