'use client';

import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { curlCommand } from '#lib/format/snippets';
import type { ErrorDetail } from '#lib/protocol/http-error';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { type CompiledToolSchema, compileToolSchema } from '#lib/schema/compile-tool-schema';
import { randomId } from '#lib/util/random-id';
import { useApi } from '../providers/workbench-context.tsx';
import { copyText } from '../tool-call/copy-text.ts';
import { showErrorToast, showToast } from '../ui/toast.ts';
import { initialArguments, planForm } from './form-plan.ts';

/** Of this page, so that no other caller can guess the run and have it first. */
const page = randomId();

/** One run a day for what people try by hand, so that it stays apart from conversations. */
const manualRun = (): string => `run_manual_${new Date().toISOString().slice(0, 10)}_${page}`;

const NONE: readonly ErrorDetail[] = [];

function problemsOf(compiled: CompiledToolSchema, value: unknown): readonly ErrorDetail[] {
  const checked = compiled.ok ? compiled.check(value) : null;
  return checked && !checked.ok ? checked.details : NONE;
}

/** The state of trying one tool: its arguments, what is wrong with them, the calls made. */
export function useTryIt(tool: ToolListing, chosenClient = '') {
  const api = useApi();
  const common = useTranslations('common');
  const plan = useMemo(() => planForm(tool.schema), [tool.schema]);
  const compiled = useMemo(() => compileToolSchema(tool.schema), [tool.schema]);
  const [value, setValue] = useState(() => initialArguments(tool.schema));
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const [wasTried, setTried] = useState(false);
  const [clientId, setClientId] = useState(chosenClient);
  const [isSending, setSending] = useState(false);
  const [refusal, setRefusal] = useState<ApiFailure | null>(null);
  const [callIds, setCallIds] = useState<readonly string[]>([]);

  const problems = useMemo(() => problemsOf(compiled, value), [compiled, value]);
  const client = tool.clients.find((one) => one.client_id === clientId)?.client_id;
  const request = {
    tool: tool.name,
    runId: manualRun(),
    args: value,
    ...(client === undefined ? {} : { client }),
  };

  const run = async () => {
    setTried(true);
    if (problems.length > 0 || broken.size > 0 || isSending) return;
    setSending(true);
    setRefusal(null);
    const answer = await api.invoke(request);
    setSending(false);
    if (answer.ok) setCallIds((before) => [answer.value.tool_call_id, ...before]);
    else setRefusal(answer);
  };
  const copyCurl = async () => {
    const command = curlCommand({ origin: window.location.origin, ...request });
    if (await copyText(command)) showToast(common('copied'));
    else showErrorToast(common('notCopied'));
  };
  const report = useMemo(
    () => (id: string, isBroken: boolean) =>
      setBroken((before) => {
        if (before.has(id) === isBroken) return before;
        const next = new Set(before);
        if (isBroken) next.add(id);
        else next.delete(id);
        return next;
      }),
    [],
  );
  return {
    plan,
    compiled,
    value,
    setValue,
    broken,
    report,
    wasTried,
    problems,
    /** Nothing is wrong before an attempt to send it. */
    shownProblems: wasTried ? problems : NONE,
    clientId,
    setClientId,
    isSending,
    refusal,
    callIds,
    run,
    copyCurl,
  };
}

export type TryIt = ReturnType<typeof useTryIt>;
