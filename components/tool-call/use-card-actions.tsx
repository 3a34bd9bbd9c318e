'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useMemo, useState } from 'react';
import { showErrorToast, showToast } from '#components/ui/toast';
import type { ApiResult } from '#lib/api/api-result';
import type { Api } from '#lib/api/http-client';
import { curlCommand } from '#lib/format/curl-command';
import { errorMessage } from '#lib/util/error-message';
import { useApi } from '../providers/workbench-context.tsx';
import { saveValue } from '../result/save-value.ts';
import type { CardActions, CopyKind } from './card-actions.ts';
import type { CardTranslator } from './card-translator.ts';
import { copyText } from './copy-text.ts';
import { focusCall } from './focus-call.ts';
import { ModelOutputDialog } from './model-output-dialog.tsx';
import { type CardPart, fileNameOf, wholeOf } from './whole-value.ts';
import { WholeValueDialog } from './whole-value-dialog.tsx';

const EXTEND_MS = 30_000;

/** What the dialog shows of a call. */
interface Shown {
  readonly callId: string;
  readonly part: CardPart | 'model';
}

/**
 * What cards can ask for, wired to the HTTP API. What fails is told in a toast.
 * `dialog` must be drawn once beside the cards.
 */
export function useCardActions(): { actions: CardActions; dialog: ReactNode } {
  const api = useApi();
  const t = useTranslations('card');
  const [shown, setShown] = useState<Shown | null>(null);
  const actions = useMemo(() => createCardActions(api, t, setShown), [api, t]);
  const onClose = () => setShown(null);
  const dialog =
    shown === null ? null : shown.part === 'model' ? (
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

function createCardActions(api: Api, t: CardTranslator, show: (what: Shown) => void): CardActions {
  /** Whether it worked; what did not is told. */
  const told = async <T,>(name: string, request: Promise<ApiResult<T>>): Promise<T | null> => {
    const result = await request;
    if (result.ok) return result.value;
    showErrorToast(t('action.failed', { action: name }), result.message);
    return null;
  };
  return {
    cancel: async (id) => (await told(t('action.cancel'), api.cancelCall(id))) !== null,
    retry: async (id) => {
      const call = await told(t('action.retry'), api.retryCall(id));
      if (!call) return;
      showToast(t('action.retried'), call.tool_call_id);
      focusCall(call.tool_call_id);
    },
    extend: (id) => void told(t('action.extend'), api.extendCall(id, EXTEND_MS)),
    decide: async (id, input) => {
      const name = t(input.decision === 'no' ? 'approval.deny' : 'approval.allow');
      return (await told(name, api.decideApproval(id, input))) !== null;
    },
    copy: async (id, kind) => {
      const text = await copyOf(api, id, kind, (request) => told(t('action.copyJson'), request));
      if (text === null) return;
      if (await copyText(text)) showToast(t('action.copied'));
      else showErrorToast(t('action.notCopied'));
    },
    showModelOutput: (callId) => show({ callId, part: 'model' }),
    showWhole: (callId, part) => show({ callId, part }),
    download: async (id, part) => {
      const call = await told(t('action.download'), api.getCall(id));
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

async function copyOf(
  api: Api,
  id: string,
  kind: CopyKind,
  told: <T>(request: Promise<ApiResult<T>>) => Promise<T | null>,
): Promise<string | null> {
  if (kind === 'id') return id;
  // The record has the arguments as they were sent; a card's may be merged with status updates.
  const call = await told(api.getCall(id));
  if (!call) return null;
  if (kind === 'json') return JSON.stringify(call, null, 2);
  return curlCommand({
    origin: window.location.origin,
    tool: call.tool_name,
    runId: call.run_id,
    args: call.args,
  });
}
