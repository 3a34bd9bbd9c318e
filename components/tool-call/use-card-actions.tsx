'use client';

import { useLocale, useTranslations } from 'next-intl';
import { type ReactNode, useMemo, useState } from 'react';
import type { ApiFailure, ApiResult } from '#lib/api/api-result';
import type { Api, ApprovalInput } from '#lib/api/http-client';
import type { OnReceived } from '#lib/api/send-request';
import { hashOfCall } from '#lib/call/call-address';
import { formatBytes } from '#lib/format/amounts';
import { curlCommand } from '#lib/format/snippets';
import type { Answer } from '#lib/protocol/question';
import { errorMessage } from '#lib/util/error-message';
import { useFailureToast } from '../failure/format-failure.ts';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { saveValue } from '../result/save-value.ts';
import { late } from '../ui/late.tsx';
import { showErrorToast, showToast } from '../ui/toast.ts';
import type { CardActions, CopyKind } from './card-actions.ts';
import type { CardTranslator } from './card-translator.ts';
import { copyText } from './copy-text.ts';
import type { ElsewhereDialogProps } from './elsewhere-dialog.tsx';
import type { ModelOutputDialogProps } from './model-output-dialog.tsx';
import { type CardPart, fileNameOf, wholeOf } from './whole-value.ts';
import type { WholeValueDialogProps } from './whole-value-dialog.tsx';

const EXTEND_MS = 30_000;
/** A record from this size on takes seconds on a slow line, and its size is shown. */
const LARGE_BYTES = 256 * 1024;

const ModelOutputDialog = late<ModelOutputDialogProps>(() =>
  import('./model-output-dialog.tsx').then((module) => module.ModelOutputDialog),
);
const ElsewhereDialog = late<ElsewhereDialogProps>(() =>
  import('./elsewhere-dialog.tsx').then((module) => module.ElsewhereDialog),
);
const WholeValueDialog = late<WholeValueDialogProps>(() =>
  import('./whole-value-dialog.tsx').then((module) => module.WholeValueDialog),
);

/** What the dialog shows of a call. */
interface Shown {
  readonly callId: string;
  readonly part: CardPart | 'model' | 'clients';
}

/**
 * What cards can ask for, wired to the HTTP API. A toast shows what failed, and why.
 * `dialog` must be drawn once beside the cards.
 */
export function useCardActions(): { actions: CardActions; dialog: ReactNode } {
  const { api, tab } = useWorkbench();
  const t = useTranslations('card');
  const common = useTranslations('common');
  const [shown, setShown] = useState<Shown | null>(null);
  const locale = useLocale();
  const showFailure = useFailureToast();
  const actions = useMemo(
    () =>
      createCardActions({
        api,
        t,
        common,
        show: setShown,
        showFailure,
        isWaiting: () => tab.getState().waiting > 0,
        sizeOf: (bytes) => formatBytes(bytes, locale),
      }),
    [api, tab, t, common, showFailure, locale],
  );
  const onClose = () => setShown(null);
  const dialog =
    shown === null ? null : shown.part === 'clients' ? (
      <ElsewhereDialog
        callId={shown.callId}
        onChoose={(clientId) => actions.retry(shown.callId, clientId)}
        onClose={onClose}
      />
    ) : shown.part === 'model' ? (
      <ModelOutputDialog callId={shown.callId} onClose={onClose} />
    ) : (
      <WholeValueDialog
        callId={shown.callId}
        part={shown.part}
        blobUrl={api.blobUrl}
        onClose={onClose}
      />
    );
  return { actions, dialog };
}

interface ActionDeps {
  readonly api: Api;
  readonly t: CardTranslator;
  readonly common: ReturnType<typeof useTranslations<'common'>>;
  readonly show: (what: Shown) => void;
  readonly showFailure: (title: string, failure: ApiFailure) => void;
  /** Whether requests wait for this tab. */
  readonly isWaiting: () => boolean;
  /** Bytes in words. */
  readonly sizeOf: (bytes: number) => string;
}

/** The value of a request, or null after a toast about its failure. `name` is the action's. */
type ValueOrToast = <T>(name: string, request: Promise<ApiResult<T>>) => Promise<T | null>;

function createCardActions(deps: ActionDeps): CardActions {
  const { api, t, common, show, showFailure, isWaiting, sizeOf } = deps;
  const valueOrToast: ValueOrToast = async (name, request) => {
    const result = await request;
    if (result.ok) return result.value;
    showFailure(t('action.failed', { action: name }), result);
    return null;
  };
  const retrying = new Set<string>();
  return {
    cancel: async (id) => (await valueOrToast(t('action.cancel'), api.cancelCall(id))) !== null,
    retry: async (id, clientId) => {
      // Pressed again on a slow line: each request would be a call of its own.
      if (retrying.has(id)) return;
      retrying.add(id);
      const request = api.retryCall(id, { clientId }).finally(() => retrying.delete(id));
      if (isWaiting()) showToast(common('connectingTab'));
      const call = await valueOrToast(t('action.retry'), request);
      if (!call) return;
      showToast(t('action.retried'), call.tool_call_id);
      focusCall(call.tool_call_id);
    },
    showClients: (callId) => show({ callId, part: 'clients' }),
    extend: (id) => void valueOrToast(t('action.extend'), api.extendCall(id, EXTEND_MS)),
    decide: async (id, input) => {
      const name = t(`approval.${buttonOf(input)}`);
      return (await valueOrToast(name, api.decideApproval(id, input))) !== null;
    },
    answer: async (id, answer) =>
      (await valueOrToast(t('question.answer'), api.request(toAnswer(id, answer)))) !== null,
    copy: async (id, kind) => {
      const text = await copyOf(api, id, kind, (request) =>
        valueOrToast(t('action.copyJson'), request),
      );
      if (text === null) return;
      if (await copyText(text)) showToast(common('copied'));
      else showErrorToast(common('notCopied'));
    },
    showModelOutput: (callId) => show({ callId, part: 'model' }),
    showWhole: (callId, part) => show({ callId, part }),
    download: async (id, part) => {
      const request = api.getCall(
        id,
        onceLarge((total) => showToast(t('action.fetching'), sizeOf(total))),
      );
      const call = await valueOrToast(t('action.download'), request);
      if (!call) return;
      try {
        saveValue(wholeOf(call, part), fileNameOf(call, part));
      } catch (error) {
        showErrorToast(t('result.saveFailed'), errorMessage(error));
      }
    },
    blobUrl: api.blobUrl,
  };
}

const toAnswer = (id: string, output: Answer) => ({
  method: 'POST' as const,
  path: `/v1/tool_calls/${encodeURIComponent(id)}/answer`,
  body: { output },
});

/** The button that was pressed, in the messages. */
function buttonOf({
  decision,
  args,
}: ApprovalInput): 'deny' | 'alwaysAllow' | 'allowEdited' | 'allow' {
  if (decision === 'no') return 'deny';
  if (decision === 'always') return 'alwaysAllow';
  return args === undefined ? 'allow' : 'allowEdited';
}

/** Calls back once, with the size of an answer that is large. */
function onceLarge(announce: (total: number) => void): OnReceived {
  let isAnnounced = false;
  return ({ total }) => {
    if (isAnnounced || total === null || total < LARGE_BYTES) return;
    isAnnounced = true;
    announce(total);
  };
}

async function copyOf(
  api: Api,
  id: string,
  kind: CopyKind,
  valueOrNull: <T>(request: Promise<ApiResult<T>>) => Promise<T | null>,
): Promise<string | null> {
  if (kind === 'id') return id;
  // The record has the arguments as they were sent; a card's may be merged with status updates.
  const call = await valueOrNull(api.getCall(id));
  if (!call) return null;
  if (kind === 'json') return JSON.stringify(call, null, 2);
  return curlCommand({
    origin: window.location.origin,
    tool: call.tool_name,
    runId: call.run_id,
    args: call.args,
  });
}

/** Scrolls the live list to a call's card and focuses it; the address can then be shared. */
function focusCall(callId: string): void {
  const hash = hashOfCall(callId);
  // Setting the same hash again fires no event.
  if (window.location.hash === hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else window.location.hash = hash;
}
