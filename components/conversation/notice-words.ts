'use client';

import { useMessages, useTranslations } from 'next-intl';
import { personName } from '#lib/format/person-name';
import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';

export interface TurnNotice {
  readonly code: string;
  /** In English, for programs and for codes that this page has no words for. */
  readonly text: string;
  readonly params?: NoticeParams | undefined;
}

/** The words for what a turn says of itself, in the language of the page (LN3, LN4). */
export function useTurnNoticeWords(): (notice: TurnNotice) => string {
  const t = useTranslations('notices');
  const inConversation = useTranslations('conversation');
  const { notices } = useMessages();
  const isKnown = (code: string): code is NoticeCode => Object.hasOwn(notices, code);
  return ({ code, text, params = {} }) => {
    const isComplete = (known: NoticeCode) =>
      argumentsOf(notices[known]).every((fact) => Object.hasOwn(params, fact));
    if (code === 'cancelled' && params.by !== undefined) {
      return inConversation('stoppedBy', { name: personName(String(params.by)) });
    }
    return isKnown(code) && isComplete(code) ? t(code, params) : text;
  };
}

/**
 * The build has parsed the message: it is a text, or a list of texts and of arguments. An argument is
 * `[name]`, or `[name, kind, cases]` with a message for each case.
 */
const argumentsOf = (message: unknown): string[] =>
  !Array.isArray(message)
    ? []
    : message
        .filter(Array.isArray)
        .flatMap(([name, , cases]) => [
          String(name),
          ...Object.values(cases ?? {}).flatMap(argumentsOf),
        ]);
