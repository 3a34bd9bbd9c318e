import { useTranslations } from 'next-intl';
import { useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import type { ApprovalInput } from '#lib/api/http-client';
import type { AlwaysOffer } from '#lib/protocol/card';
import type { AlwaysScope } from '#lib/protocol/rest';
import { useClients, useTitle } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Select } from '../ui/select.tsx';
import { AllowButton, type AllowButtonProps } from './allow-button.tsx';
import { useFirstFocus } from './use-first-focus.ts';

const HOUR = 3_600;
/** In seconds, by their names in the messages. */
const ENDS = { hour: HOUR, day: 24 * HOUR, month: 720 * HOUR, year: 8_760 * HOUR } as const;
type End = keyof typeof ENDS | 'none';

const SCOPES = ['run', 'saved'] as const satisfies readonly AlwaysScope[];
/** A saved rule has an end. */
const ENDS_OF: Record<AlwaysScope, readonly End[]> = {
  run: ['none', 'hour', 'day', 'month', 'year'],
  saved: ['hour', 'day', 'month', 'year'],
};
const FIRST_END: Record<AlwaysScope, End> = { run: 'none', saved: 'month' };

export interface AlwaysFormProps {
  always: AlwaysOffer;
  /** How each button that allows the call is blocked. */
  allow: Pick<AllowButtonProps, 'disabled' | 'blockedBy' | 'onBlocked'>;
  onDecide: (input: ApprovalInput) => void;
  onBack: () => void;
}

/** How far an "always" reaches and how long it holds, with the exact rule as it will be written. */
export function AlwaysForm({ always, allow, onDecide, onBack }: AlwaysFormProps) {
  const t = useTranslations('card.approval');
  const form = useRef<HTMLFieldSetElement>(null);
  useFirstFocus(form, 'select', true);
  const [scope, setScope] = useState<AlwaysScope>('run');
  const [end, setEnd] = useState<End>(FIRST_END.run);
  const choose = (next: AlwaysScope) => {
    setScope(next);
    setEnd(FIRST_END[next]);
  };
  const { client_id: clientId, run_id: runId } = always;
  const named = useClients().find((one) => one.client_id === clientId)?.name;
  const title = useTitle(runId);
  const client = clientId === null ? t('server') : named || clientId;
  const where = scope === 'run' && title ? t('scopeOfRun', { title }) : t(`scope.${scope}`);
  const options = <Name extends string>(names: readonly Name[], label: (name: Name) => string) =>
    names.map((value) => ({ value, label: label(value) }));
  return (
    <fieldset
      ref={form}
      className="mt-2 min-w-0 rounded-md border border-line p-2"
      data-testid="always-form"
    >
      <legend className="px-1 text-xs font-medium">{t('alwaysTitle')}</legend>
      <div className="flex flex-wrap gap-2">
        <Select
          label={t('alwaysScope')}
          value={scope}
          onValueChange={(value) => choose(SCOPES.find((one) => one === value) ?? 'run')}
          options={options(SCOPES, (one) => t(`scope.${one}`))}
        />
        <Select
          label={t('alwaysEnd')}
          value={end}
          onValueChange={(value) =>
            setEnd(ENDS_OF[scope].find((one) => one === value) ?? FIRST_END[scope])
          }
          options={options(ENDS_OF[scope], (one) => t(`end.${one}`))}
        />
      </div>
      <p
        role="status"
        title={always.client_id ?? undefined}
        className="mt-1.5 text-xs wrap-anywhere"
        data-testid="always-rule"
      >
        <MarkedText
          text={t('alwaysRule', {
            tool: always.tool_name,
            client,
            scope: where,
            end: t(`end.${end}`),
          })}
        />
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <AllowButton
          {...allow}
          onClick={() =>
            onDecide({
              decision: 'always',
              scope,
              ...(end === 'none' ? {} : { expires_in: ENDS[end] }),
            })
          }
        >
          {t('alwaysAllow')}
        </AllowButton>
        <Button onClick={onBack}>{t('back')}</Button>
      </div>
    </fieldset>
  );
}
