'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useId, useRef } from 'react';
import type { WireAlwaysRule } from '#lib/protocol/always';
import { useFailureToast } from '../../failure/format-failure.ts';
import { useAnnounce, useClients } from '../../providers/workbench-context.tsx';
import { useAlwaysWords } from '../../tool-call/always-words.ts';
import { MarkedText } from '../../ui/marked-text.tsx';
import { ConfirmButton } from '../confirm-button.tsx';
import { MoreButton } from '../more-button.tsx';
import { useFormatTime } from '../use-format-time.ts';
import { type AskPage, usePages } from '../use-pages.ts';
import { usePolicyApi } from './use-policy-api.ts';

const LIST = { role: 'list' };

/** What people allowed for good, newest first, and how to take it back. */
export function AlwaysRules({ mayChange }: { mayChange: boolean }) {
  const t = useTranslations('settings.policy.always');
  const api = usePolicyApi();
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const ask = useCallback<AskPage<WireAlwaysRule, never>>(async () => {
    const answer = await api.listAlways();
    if (!answer.ok) return answer;
    return { ok: true, value: { items: answer.value.always.toReversed(), next: null } };
  }, [api]);
  const pages = usePages(ask);
  return (
    <section aria-labelledby={titleId} className="mt-6">
      <h2 ref={title} id={titleId} tabIndex={-1} className="text-base font-bold outline-none">
        {t('title')}
      </h2>
      <p className="text-muted">{t('text')}</p>
      <ul className="mt-1 divide-y divide-line" {...LIST}>
        {pages.items?.map((rule) => (
          <li key={rule.id} data-testid="always" className="py-2 wrap-anywhere">
            <Rule rule={rule} />
            {mayChange && (
              <Withdraw
                rule={rule}
                onWithdrawn={() => {
                  pages.change((items) => items.filter(({ id }) => id !== rule.id));
                  title.current?.focus();
                }}
              />
            )}
          </li>
        ))}
      </ul>
      <MoreButton pages={pages} />
    </section>
  );
}

function Rule({ rule }: { rule: WireAlwaysRule }) {
  const t = useTranslations('settings.policy.always');
  const common = useTranslations('common');
  const formatTime = useFormatTime();
  const words = useAlwaysWords();
  const clients = useClients();
  const { tool_name, client_id, scope, run_id, caller, allowed_at, allowed_by, expires_at } = rule;
  const named = clients.find((one) => one.client_id === client_id)?.name;
  const times = [
    t('by', { by: allowed_by, time: formatTime(allowed_at) }),
    expires_at === null ? t('noEnd') : t('until', { time: formatTime(expires_at) }),
    rule.last_used_at === null
      ? common('neverUsed')
      : common('lastUsed', { time: formatTime(rule.last_used_at) }),
  ];
  if (rule.has_operands) times.push(t('operands'));
  if (rule.uses !== null) times.push(t('uses', { used: rule.used, uses: rule.uses }));
  const where = scope === 'run' ? t('inRun', { run: run_id }) : t('inEach');
  return (
    <>
      <p title={client_id ?? undefined}>
        <MarkedText
          text={t('rule', {
            tool: tool_name,
            client: client_id === null ? common('theServer') : named || client_id,
            args: words.args({ arguments: rule.bound, other_arguments: rule.other_arguments }),
            where,
            caller: caller.kind === 'run' ? t('builtIn', { name: caller.name }) : caller.name,
          })}
        />
      </p>
      <p className="text-[13px] text-muted">
        <MarkedText text={times.join(' · ')} />
      </p>
    </>
  );
}

interface WithdrawProps {
  rule: WireAlwaysRule;
  onWithdrawn: () => void;
}

function Withdraw({ rule, onWithdrawn }: WithdrawProps) {
  const t = useTranslations('settings.policy.always');
  const common = useTranslations('common');
  const api = usePolicyApi();
  const announce = useAnnounce();
  const showFailure = useFailureToast();
  const tool = rule.tool_name;
  const withdraw = async () => {
    const answer = await api.withdrawAlways(rule.id);
    // It has ended by itself, or another person was first.
    const isRevoked = answer.ok || answer.code === 'not_found';
    if (isRevoked) {
      onWithdrawn();
      announce(t('revoked', { tool }));
    } else showFailure(t('notRevoked'), answer);
    return isRevoked;
  };
  return (
    <ConfirmButton
      label={common('revoke')}
      about={tool}
      question={t('ask', { tool })}
      confirm={common('revokeNow')}
      sending={common('revoking')}
      keep={common('keep')}
      onConfirm={withdraw}
    >
      {t('askText')}
    </ConfirmButton>
  );
}
