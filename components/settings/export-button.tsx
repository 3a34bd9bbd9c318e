'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { useFailureToast } from '../failure/format-failure.ts';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { saveFile } from '../result/save-file.ts';
import { Button } from '../ui/button.tsx';
import { type AuditFilter, exportAudit } from './export-audit.ts';
import { useAccessApi } from './use-access-api.ts';

const wait = (seconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000));

const fileName = (): string => `callboard-audit-${new Date().toISOString().slice(0, 10)}.jsonl`;

/** Saves all that the filter gives as a file; pressed again meanwhile it ends that. */
export function ExportButton({ filter }: { filter: AuditFilter }) {
  const t = useTranslations('settings.audit');
  const { listAudit } = useAccessApi();
  const announce = useAnnounce();
  const showFailure = useFailureToast();
  const [entries, setEntries] = useState<number | null>(null);
  const going = useRef<AbortController | null>(null);
  useEffect(() => () => going.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    going.current = controller;
    setEntries(0);
    const { signal } = controller;
    const deps = { listAudit, onProgress: setEntries, signal, wait };
    const exported = await exportAudit(filter, deps);
    if (going.current !== controller) return;
    going.current = null;
    setEntries(null);
    if (exported.kind === 'failed') showFailure(t('exportFailed'), exported.failure);
    if (exported.kind !== 'done') return;
    saveFile(exported.file, fileName());
    announce(t('exported'));
  };
  const stop = () => {
    going.current?.abort();
    going.current = null;
    setEntries(null);
  };
  return (
    <p className="mt-3 flex flex-wrap items-center gap-2">
      <Button size="sm" onClick={() => (entries === null ? void start() : stop())}>
        {t(entries === null ? 'export' : 'stopExport')}
      </Button>
      <span className="text-[13px] text-muted">
        {entries === null ? t('exportText') : t('exporting', { count: entries })}
      </span>
    </p>
  );
}
