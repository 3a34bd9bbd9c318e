'use client';

import { useTranslations } from 'next-intl';
import { useId, useRef } from 'react';
import type { WireToken } from '#lib/protocol/token';
import { useFailureToast } from '../failure/format-failure.ts';
import { useMe } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { useAccessApi } from './use-access-api.ts';
import { useFormatTime } from './use-format-time.ts';

export interface TokenRowProps {
  token: WireToken;
  onRevoked: (token: WireToken) => void;
}

/** One token: whose it is, what it allows, when it was made and used, and its end. */
export function TokenRow({ token, onRevoked }: TokenRowProps) {
  const t = useTranslations('settings.access');
  const me = useMe();
  const nameId = useId();
  const row = useRef<HTMLElement>(null);
  const isRevoked = token.revoked_at !== null;
  const isOwn = me !== null && me.token_id === (token.built_in ? null : token.id);
  return (
    <article
      ref={row}
      aria-labelledby={nameId}
      tabIndex={-1}
      data-testid="token"
      data-name={token.name}
      className={`rounded-lg border border-line px-3 py-2 ${isRevoked ? '' : 'bg-surface'}`}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 id={nameId} className="mono font-bold wrap-anywhere">
          <MarkedText text={token.name} />
        </h3>
        <span className="text-xs text-muted">
          {token.role ? t(`kind.${token.role}`) : t(`kind.${token.kind}`)}
        </span>
        {isOwn && <span className="chip text-accent">{t('own')}</span>}
        {isRevoked && <span className="chip bg-cancelbg text-cancel">{t('revoked')}</span>}
      </div>
      {token.tools && <Allowed tools={token.tools} />}
      <Times token={token} />
      {!isRevoked && !token.built_in && (
        <Revoke
          token={token}
          isOwn={isOwn}
          onRevoked={(revoked) => {
            onRevoked(revoked);
            row.current?.focus();
          }}
        />
      )}
    </article>
  );
}

/** Tools of an allow-list before the rest is folded. */
const MOST_OPEN = 12;

function Allowed({ tools }: { tools: readonly string[] }) {
  const t = useTranslations('settings.access');
  if (tools.length === 0) return <p className="text-[13px]">{t('noTools')}</p>;
  const list = (
    <ul aria-label={t('allowed')} className="mt-1 flex flex-wrap gap-1">
      {tools.map((name) => (
        <li key={name} className="mono rounded border border-line bg-bg px-1.5 wrap-anywhere">
          <MarkedText text={name} />
        </li>
      ))}
    </ul>
  );
  if (tools.length <= MOST_OPEN) return list;
  return (
    <details>
      <summary className="min-h-6 text-[13px]">{t('entries', { count: tools.length })}</summary>
      {list}
    </details>
  );
}

function Times({ token }: { token: WireToken }) {
  const t = useTranslations('settings.access');
  const common = useTranslations('common');
  const formatTime = useFormatTime();
  const { created_at, created_by, last_used_at, revoked_at } = token;
  const parts = token.built_in
    ? [t('builtIn')]
    : [
        created_at !== null &&
          t('made', { time: formatTime(created_at), by: created_by ?? t('unknown') }),
        last_used_at === null
          ? common('neverUsed')
          : common('lastUsed', { time: formatTime(last_used_at) }),
        revoked_at !== null && t('revokedAt', { time: formatTime(revoked_at) }),
      ];
  return (
    <p className="mt-1 text-[13px] text-muted wrap-anywhere">{parts.filter(Boolean).join(' · ')}</p>
  );
}

interface RevokeProps extends TokenRowProps {
  /** Of the person who is asked. */
  isOwn: boolean;
}

/** Revoking is for good, so that it is asked about first. */
function Revoke({ token, isOwn, onRevoked }: RevokeProps) {
  const t = useTranslations('settings.access');
  const common = useTranslations('common');
  const api = useAccessApi();
  const showFailure = useFailureToast();
  const revoke = async () => {
    const answer = await api.revokeToken(token.id);
    if (answer.ok) onRevoked(answer.value);
    else showFailure(t('notRevoked', { name: token.name }), answer);
    return answer.ok;
  };
  return (
    <ConfirmButton
      label={t('revoke')}
      question={t('ask', { name: token.name })}
      confirm={t('revokeNow')}
      sending={t('revoking')}
      keep={common('keep')}
      onConfirm={revoke}
    >
      {t(isOwn ? 'askOwn' : 'askText')}
    </ConfirmButton>
  );
}
