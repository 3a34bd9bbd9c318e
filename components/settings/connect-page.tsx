'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useId, useRef, useState } from 'react';
import { AGENT_PROGRAMS, type AgentProgram, agentSnippets } from '#lib/format/agent-snippets';
import type { CreatedToken } from '#lib/protocol/token';
import { Button } from '../ui/button.tsx';
import { Choice } from './choice.tsx';
import { CopyBlock } from './copy-block.tsx';
import { FirstCall } from './first-call.tsx';
import { ForAdmins } from './for-admins.tsx';
import { NewTokenForm } from './new-token-form.tsx';

/** Lets in a program that calls tools by MCP: a token of its own, and what to enter where. */
export function ConnectPage() {
  const t = useTranslations('settings.connect');
  return (
    <ForAdmins title={t('title')}>
      <p className="mb-4 text-muted">{t('text')}</p>
      <Connect />
    </ForAdmins>
  );
}

const ONLY_AGENTS = ['agent'] as const;

function Connect() {
  const t = useTranslations('settings.connect');
  const [shown, setShown] = useState<'button' | 'form' | CreatedToken>('form');
  if (shown === 'button') {
    return (
      <Button variant="primary" onClick={() => setShown('form')}>
        {t('another')}
      </Button>
    );
  }
  if (shown === 'form') {
    return (
      <NewTokenForm
        title={t('form')}
        kinds={ONLY_AGENTS}
        onCreated={setShown}
        onCancel={() => setShown('button')}
      />
    );
  }
  return <Snippets token={shown} onDone={() => setShown('button')} />;
}

/** The token is in them: this page has it now, and after that only who copied it. */
function Snippets({ token, onDone }: { token: CreatedToken; onDone: () => void }) {
  const t = useTranslations('settings.connect');
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const [program, setProgram] = useState<AgentProgram>('claude-code');
  useEffect(() => title.current?.focus(), []);
  const address = window.location.origin;
  const snippets = agentSnippets(program, { address, token: token.secret });
  const isAsked = !snippets.some(({ text }) => text.includes(token.secret));
  return (
    <section
      aria-labelledby={titleId}
      className="mt-3 space-y-3 rounded-lg border-2 border-accent bg-surface p-3"
    >
      <h2 ref={title} id={titleId} tabIndex={-1} className="font-bold outline-none wrap-anywhere">
        {t('ready', { name: token.name })}
      </h2>
      <p className="font-medium">{t('once')}</p>
      <Choice
        legend={t('program')}
        name="program"
        options={AGENT_PROGRAMS}
        value={program}
        onValue={setProgram}
      >
        {(one) => t(`programs.${one}`)}
      </Choice>
      {snippets.map(({ place, text }) => (
        <CopyBlock key={place} label={place ?? t('shell')} text={text} />
      ))}
      {isAsked && <CopyBlock label={t('token')} text={token.secret} />}
      {program === 'claude-desktop' && <p className="text-muted">{t('path')}</p>}
      <FirstCall token={token} />
      <Button onClick={onDone}>{t('done')}</Button>
    </section>
  );
}
