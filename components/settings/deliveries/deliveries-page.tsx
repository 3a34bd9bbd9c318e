'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { createNotifyApi } from '#lib/api/settings-api';
import type { WireDelivery, WireTarget, WireTargets } from '#lib/protocol/notify';
import { useFailureToast } from '../../failure/format-failure.ts';
import { useAnnounce, useApi, useHasRole } from '../../providers/workbench-context.tsx';
import { ViewerNote } from '../../shell/viewer-note.tsx';
import { Button } from '../../ui/button.tsx';
import { type AskPage, usePages } from '../use-pages.ts';
import { useTicks } from '../use-ticks.ts';
import { DeliveryList } from './delivery-list.tsx';
import { TargetList } from './target-list.tsx';

const idOf = ({ id }: { id: string }) => id;

/** Where notifications go, how each target does, and what was sent. */
export function DeliveriesPage() {
  const t = useTranslations('settings.deliveries');
  const mayChange = useHasRole('operator');
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-3 text-muted">{t('text')}</p>
      <ViewerNote />
      <Lists mayChange={mayChange} />
    </>
  );
}

function Lists({ mayChange }: { mayChange: boolean }) {
  const t = useTranslations('settings.deliveries');
  const common = useTranslations('common');
  const { targets, limits } = useTargets();
  const deliveries = useDeliveries();
  const api = useNotifyApi();
  const { act, isBusy } = useAct();
  const renew = () => {
    targets.renew();
    deliveries.renew();
  };
  const ticks = useTicks();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a tick is why, and nothing that is read.
  useEffect(renew, [ticks]);
  const test = (id: string) =>
    act(
      `test ${id}`,
      t('test.sent', { target: id }),
      t('test.notSent'),
      () => api.test(id),
      (sent) => deliveries.change((items) => [sent, ...items]),
    );
  const enable = (id: string) =>
    act(
      `enable ${id}`,
      t('enable.done', { target: id }),
      t('enable.failed'),
      () => api.enable(id),
      (target) => targets.change((items) => items.map((one) => (one.id === id ? target : one))),
    );
  const resend = (id: string) =>
    act(
      `resend ${id}`,
      t('resend.sent'),
      t('resend.notSent'),
      () => api.resend(id),
      (sent) => deliveries.change((items) => items.map((one) => (one.id === id ? sent : one))),
    );
  return (
    <>
      <TargetList
        targets={targets}
        limits={limits}
        mayChange={mayChange}
        test={test}
        enable={enable}
        isBusy={isBusy}
      />
      {(targets.items?.length !== 0 || deliveries.items?.length !== 0) && (
        <DeliveryList
          deliveries={deliveries}
          mayChange={mayChange}
          resend={resend}
          isBusy={isBusy}
        />
      )}
      <Button size="sm" className="mt-4" onClick={renew}>
        {common('refresh')}
      </Button>
    </>
  );
}

/** Does what a person asked for, and reports how it ended; a second click before that does nothing. */
function useAct() {
  const announce = useAnnounce();
  const showFailure = useFailureToast();
  const running = useRef(new Set<string>());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  async function act<T>(
    name: string,
    done: string,
    failed: string,
    ask: () => Promise<ApiResult<T>>,
    onDone: (value: T) => void,
  ): Promise<void> {
    if (running.current.has(name)) return;
    running.current.add(name);
    setBusy(new Set(running.current));
    const answer = await ask();
    running.current.delete(name);
    setBusy(new Set(running.current));
    if (!answer.ok) return showFailure(failed, answer);
    onDone(answer.value);
    announce(done);
  }
  return { act, isBusy: (name: string) => busy.has(name) };
}

function useTargets() {
  const api = useNotifyApi();
  const [limits, setLimits] = useState<WireTargets['limits'] | null>(null);
  const ask = useCallback<AskPage<WireTarget, never>>(async () => {
    const answer = await api.listTargets();
    if (!answer.ok) return answer;
    setLimits(answer.value.limits);
    return { ok: true, value: { items: answer.value.targets, next: null } };
  }, [api]);
  return { targets: usePages(ask, idOf), limits };
}

function useDeliveries() {
  const api = useNotifyApi();
  const ask = useCallback<AskPage<WireDelivery, string>>(
    async (cursor) => {
      const answer = await api.listDeliveries(cursor);
      if (!answer.ok) return answer;
      const { deliveries, next_cursor } = answer.value;
      return { ok: true, value: { items: deliveries, next: next_cursor } };
    },
    [api],
  );
  return usePages(ask, idOf);
}

function useNotifyApi() {
  const { request } = useApi();
  return useMemo(() => createNotifyApi(request), [request]);
}
