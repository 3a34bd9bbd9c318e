'use client';

import { useLocale, useTranslations } from 'next-intl';
import { type ReactNode, useCallback } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { Api } from '#lib/api/http-client';
import { formatDuration } from '#lib/format/amounts';
import type { ModelTurn, ModelUsage } from '#lib/protocol/model-turn';
import { Fetched } from '../failure/fetched.tsx';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useTokenWords } from './token-words.ts';

const listModelTurns = (
  request: Api['request'],
  runId: string,
  messageId: string,
): Promise<ApiResult<{ model_turns: ModelTurn[] }>> => {
  const query = new URLSearchParams({ message_id: messageId });
  const path = `/v1/runs/${encodeURIComponent(runId)}/model_turns?${query}`;
  return request({ method: 'GET', path });
};

export interface StepRequestsProps {
  runId: string;
  messageId: string;
}

/** The requests to a model whose answer a message is: one, or more where it was asked again. */
export function StepRequests({ runId, messageId }: StepRequestsProps) {
  const t = useTranslations('conversation.request');
  const api = useApi();
  const answer = useAnswer(
    useCallback(() => listModelTurns(api.request, runId, messageId), [api, runId, messageId]),
  );
  return (
    <Fetched answer={answer} loading={<p role="status">{t('loading')}</p>}>
      {({ model_turns: turns }) =>
        turns.length === 0 ? (
          <p className="px-1.5">{t('none')}</p>
        ) : (
          <div className="space-y-2 px-1.5 pb-1">
            {turns.map((turn) => (
              <Request key={turn.number} turn={turn} />
            ))}
          </div>
        )
      }
    </Fetched>
  );
}

function Request({ turn }: { turn: ModelTurn }) {
  const t = useTranslations('conversation.request');
  return (
    <section>
      {turn.attempt > 1 && (
        <h4 className="font-semibold">{t('attempt', { attempt: turn.attempt })}</h4>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5">
        <Fact name={t('model')}>
          <span className="mono">
            <MarkedText text={turn.model} />
          </span>
        </Fact>
        {turn.ended_at !== null && (
          <Fact name={t('duration')}>
            <Duration turn={turn} endedAt={turn.ended_at} />
          </Fact>
        )}
        <Fact name={t('tokens')}>
          <Tokens usage={turn.usage} />
        </Fact>
        <Fact name={t('tools')}>{turn.tools_offered}</Fact>
        <Fact name={t('end')}>
          <MarkedText text={endWords(turn, t)} />
        </Fact>
      </dl>
    </section>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd className="min-w-0 text-fg wrap-anywhere">{children}</dd>
  </>
);

function Duration({ turn, endedAt }: { turn: ModelTurn; endedAt: number }) {
  const t = useTranslations('conversation.request');
  const locale = useLocale();
  const since = (at: number) => formatDuration((at - turn.started_at) * 1_000, locale);
  const duration = since(endedAt);
  if (turn.first_token_at === null) return duration;
  return t('first', { duration, time: since(turn.first_token_at) });
}

function Tokens({ usage }: { usage: ModelUsage }) {
  const t = useTranslations('conversation.request');
  return useTokenWords()(usage) ?? t('unknown');
}

type RequestTranslator = ReturnType<typeof useTranslations<'conversation.request'>>;

function endWords(turn: ModelTurn, t: RequestTranslator): string {
  if (turn.state === 'running' || turn.state === 'interrupted') return t(turn.state);
  if (turn.error_code === 'cancelled') return t('cancelled');
  if (turn.error_code !== null) return t('failed', { code: turn.error_code });
  switch (turn.finish_reason) {
    case 'stop':
      return t('stop');
    case 'tool-calls':
      return t('toolCalls');
    case 'length':
      return t('length');
    case 'content-filter':
      return t('filtered');
    default:
      return t('other', { reason: turn.finish_reason ?? '' });
  }
}
