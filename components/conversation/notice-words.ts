'use client';

import { useLocale, useMessages, useTranslations } from 'next-intl';
import { personName } from '#lib/format/person-name';
import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';

/** What a notice shows: why something ended as it did, and what can be done when that is not said yet. */
export interface NoticeWords {
  readonly words: string;
  readonly advice?: string | undefined;
}

export interface TurnNotice {
  readonly code: string;
  /** In English, for programs and for codes that this page has no words for. */
  readonly text: string;
  readonly params?: NoticeParams | undefined;
}

/** The words for what a turn says of itself, in the language of the page (LN3, LN4). */
export function useTurnNoticeWords(): (notice: TurnNotice) => NoticeWords {
  const t = useTranslations('notices');
  const inConversation = useTranslations('conversation');
  const { notices } = useMessages();
  const isKnown = (code: string): code is NoticeCode => Object.hasOwn(notices, code);
  const adviceFor = useAdvice();
  return ({ code, text, params = {} }) => {
    const isComplete = (known: NoticeCode) =>
      argumentsOf(notices[known]).every((fact) => Object.hasOwn(params, fact));
    if (code === 'cancelled' && params.by !== undefined) {
      return { words: inConversation('stoppedBy', { name: personName(String(params.by)) }) };
    }
    if (isKnown(code) && isComplete(code)) return { words: t(code, params) };
    // Stored before notices had facts: its English words say what to do already.
    return { words: text, advice: adviceFor(code) };
  };
}

/** Advice in another language than English, which the messages of the server are in. */
function useAdvice(): (code: string) => string | undefined {
  const t = useTranslations('errors.whatToDo');
  const { whatToDo } = useMessages().errors;
  const isEnglish = useLocale().startsWith('en');
  const isKnown = (code: string): code is keyof typeof whatToDo => Object.hasOwn(whatToDo, code);
  return (code) => (isEnglish || !isKnown(code) ? undefined : t(code));
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
