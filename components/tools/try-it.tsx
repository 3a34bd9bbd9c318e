'use client';

import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { Button } from '#components/ui/button';
import { MarkedText } from '#components/ui/marked-text';
import { Select } from '#components/ui/select';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useCall, useConnection, useIsViewer } from '../providers/workbench-context.tsx';
import { TabWait } from '../shell/tab-wait.tsx';
import { ViewerNote } from '../shell/viewer-note.tsx';
import type { CardActions } from '../tool-call/card-actions.ts';
import { ConnectedCard } from '../tool-call/connected-card.tsx';
import { useCardActions } from '../tool-call/use-card-actions.tsx';
import { ArgumentsInput } from './arguments-input.tsx';
import { type TryIt as State, useTryIt } from './use-try-it.ts';

/** Calls a tool by hand: arguments by form or as JSON, then its live card. No model needed. */
export function TryIt({ tool, client = null }: { tool: ToolListing; client?: string | null }) {
  const t = useTranslations('tools.try');
  const common = useTranslations('common');
  const titleId = useId();
  const formatFailure = useFormatFailure();
  const state = useTryIt(tool, client ?? '');
  const isViewer = useIsViewer();
  const [view, setView] = useState<'form' | 'json'>(state.plan.kind === 'json' ? 'json' : 'form');
  const hasProblem = state.wasTried && (state.problems.length > 0 || state.broken.size > 0);
  return (
    <section aria-labelledby={titleId} className="mt-6">
      <div className="flex flex-wrap items-center gap-3">
        <h2 id={titleId} className="flex-1 text-base font-bold">
          {t('title')}
        </h2>
        {state.plan.kind === 'form' && (
          <ViewSwitch view={view} onView={setView} isLocked={state.broken.size > 0} />
        )}
      </div>
      <div className="mt-2 rounded-lg border border-line bg-surface p-3">
        <ArgumentsInput state={state} view={view} />
        <div className="mt-4 flex flex-wrap items-center gap-2">
          <Button
            variant="primary"
            // Not disabled while it is sent: that would take the focus away from it.
            aria-disabled={state.isSending}
            disabled={!tool.callable || isViewer}
            onClick={({ detail }) => {
              // A double click is one wish.
              if (!state.isSending && detail <= 1) void state.run();
            }}
          >
            {t(state.isSending ? 'running' : 'run')}
          </Button>
          <ClientSelect tool={tool} state={state} />
          <Button variant="ghost" onClick={() => void state.copyCurl()}>
            {common('copyCurl')}
          </Button>
          {state.isSending && <TabWait />}
          <ViewerNote />
          {!tool.callable && (
            <p className="text-error">
              <MarkedText text={tool.reason ?? ''} />
            </p>
          )}
        </div>
        {hasProblem && (
          <p role="alert" className="mt-2 text-error">
            {t('fix')}
          </p>
        )}
        {state.refusal && (
          <div role="alert" className="mt-2 text-error">
            <p className="font-semibold">{t('refused')}</p>
            <p className="wrap-anywhere">
              <MarkedText text={formatFailure(state.refusal)} keepLayout />
            </p>
            <ul>
              {state.refusal.details.map(({ path, problem }) => (
                <li key={`${path} ${problem}`} className="wrap-anywhere">
                  <MarkedText text={t('at', { path: path || t('whole'), problem })} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <ManualCalls callIds={state.callIds} />
    </section>
  );
}

interface ViewSwitchProps {
  view: 'form' | 'json';
  onView: (view: 'form' | 'json') => void;
  /** Text that is not JSON is in one view and cannot be shown in the other. */
  isLocked: boolean;
}

function ViewSwitch({ view, onView, isLocked }: ViewSwitchProps) {
  const t = useTranslations('tools.try');
  return (
    <fieldset className="flex gap-1 border-0">
      <legend className="sr-only">{t('view')}</legend>
      {(['form', 'json'] as const).map((one) => (
        <Button
          key={one}
          size="sm"
          aria-pressed={view === one}
          disabled={isLocked && view !== one}
          className={view === one ? 'border-accent! font-bold' : ''}
          onClick={() => onView(one)}
        >
          {t(one)}
        </Button>
      ))}
    </fieldset>
  );
}

function ClientSelect({ tool, state }: { tool: ToolListing; state: State }) {
  const t = useTranslations('tools.try');
  if (tool.clients.length < 2) return null;
  return (
    <Select
      label={t('client')}
      value={state.clientId}
      onValueChange={state.setClientId}
      options={[
        { value: '', label: t('anyClient') },
        ...tool.clients.map((one) => ({
          value: one.client_id,
          label: showControlCharacters(one.name || one.client_id),
        })),
      ]}
    />
  );
}

const LIST = { role: 'list' };

/** The live cards of calls made by hand here, newest first. */
function ManualCalls({ callIds }: { callIds: readonly string[] }) {
  const t = useTranslations('tools.try');
  const titleId = useId();
  const { actions, dialog } = useCardActions();
  const isStale = useConnection().feed.kind !== 'connected';
  if (callIds.length === 0) return null;
  return (
    <section aria-labelledby={titleId} className="mt-4">
      <h3 id={titleId} className="mb-2 font-semibold">
        {t('calls')}
      </h3>
      <ol className="flex flex-col gap-2" {...LIST}>
        {callIds.map((callId) => (
          <li key={callId}>
            <ManualCall callId={callId} isStale={isStale} actions={actions} />
          </li>
        ))}
      </ol>
      {dialog}
    </section>
  );
}

interface ManualCallProps {
  callId: string;
  isStale: boolean;
  actions: CardActions;
}

function ManualCall(props: ManualCallProps) {
  const t = useTranslations('tools.try');
  const isKnown = useCall(props.callId) !== undefined;
  return isKnown ? (
    <ConnectedCard {...props} />
  ) : (
    <p role="status" className="text-muted">
      {t('sent')}
    </p>
  );
}
