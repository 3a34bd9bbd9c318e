'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { ROLES, type Role } from '#lib/protocol/role';
import type { CreatedToken, NewTokenBody } from '#lib/protocol/token';
import { TOKEN_NAME } from '#lib/protocol/token-names';
import { useFormatFailure } from '../failure/format-failure.ts';
import { Button } from '../ui/button.tsx';
import { AllowList } from './allow-list.tsx';
import { Choice } from './choice.tsx';
import { useAccessApi } from './use-access-api.ts';

export interface NewTokenFormProps {
  /** By default that of a new token. */
  title?: string;
  /** For whom it may be; of one kind alone nothing is asked. */
  kinds?: readonly Kind[];
  onCreated: (token: CreatedToken) => void;
  onCancel: () => void;
}

const KINDS = ['agent', 'operator'] as const;
type Kind = (typeof KINDS)[number];

/** For whom a token is, and what it allows. */
export function NewTokenForm({ title, kinds = KINDS, onCreated, onCancel }: NewTokenFormProps) {
  const t = useTranslations('settings.access');
  const common = useTranslations('common');
  const titleId = useId();
  const [kind, setKind] = useState<Kind>('agent');
  const [role, setRole] = useState<Role>('operator');
  const [tools, setTools] = useState<readonly string[]>([]);
  const { name, send, isSending, problem } = useCreate(onCreated);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send((given) =>
      kind === 'agent' ? { kind, name: given, tools: [...tools] } : { kind, name: given, role },
    );
  };
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-labelledby={titleId}
      className="mt-3 space-y-3 rounded-lg border border-line bg-surface p-3"
    >
      <h2 id={titleId} className="font-bold">
        {title ?? t('new')}
      </h2>
      {kinds.length > 1 && (
        <Choice legend={t('for')} name="kind" options={kinds} value={kind} onValue={setKind}>
          {(one) => t(`kindText.${one}`)}
        </Choice>
      )}
      <NameField field={name} problem={problem} />
      {kind === 'operator' ? (
        <Choice legend={t('role')} name="role" options={ROLES} value={role} onValue={setRole}>
          {(one) => t(`roleText.${one}`)}
        </Choice>
      ) : (
        <AllowList chosen={tools} onChange={setTools} />
      )}
      <div className="flex flex-wrap gap-2">
        {/* Not disabled while it is sent: that would take the focus away from it. */}
        <Button type="submit" variant="primary" aria-disabled={isSending}>
          {t(isSending ? 'creating' : 'create')}
        </Button>
        <Button onClick={onCancel}>{common('cancel')}</Button>
      </div>
    </form>
  );
}

/** The name, and sending it with the rest; what is wrong leads back to the name. */
function useCreate(onCreated: (token: CreatedToken) => void) {
  const t = useTranslations('settings.access');
  const api = useAccessApi();
  const formatFailure = useFormatFailure();
  const name = useRef<HTMLInputElement>(null);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => name.current?.focus(), []);
  const explain = (failure: ApiFailure) =>
    [formatFailure(failure), ...failure.details.map(({ path, problem }) => `${path}: ${problem}`)]
      .map((text) => showControlCharacters(text))
      .join(' ');
  const fail = (text: string) => {
    setProblem(text);
    name.current?.focus();
  };
  const send = async (bodyOf: (name: string) => NewTokenBody) => {
    if (isSending) return;
    const given = name.current?.value.trim() ?? '';
    if (!TOKEN_NAME.test(given)) return fail(t('badName'));
    setProblem(null);
    setSending(true);
    const answer = await api.createToken(bodyOf(given));
    setSending(false);
    if (answer.ok) onCreated(answer.value);
    else fail(answer.code === 'conflict' ? t('taken') : explain(answer));
  };
  return { name, send, isSending, problem };
}

interface NameFieldProps {
  field: ReturnType<typeof useCreate>['name'];
  problem: string | null;
}

function NameField({ field, problem }: NameFieldProps) {
  const t = useTranslations('settings.access');
  const hintId = useId();
  const problemId = useId();
  return (
    <div>
      <label className="block space-y-1">
        <span className="font-medium">{t('name')}</span>
        <input
          ref={field}
          name="name"
          maxLength={64}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? hintId : `${hintId} ${problemId}`}
          className="field mono block w-full max-w-sm"
        />
      </label>
      <p id={hintId} className="mt-1 text-xs text-muted">
        {t('nameHint')}
      </p>
      <p role="alert" id={problemId} className="mt-1 text-error empty:hidden wrap-anywhere">
        {problem}
      </p>
    </div>
  );
}
