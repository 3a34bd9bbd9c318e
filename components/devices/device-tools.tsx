'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { WireDevice } from '#lib/protocol/device';
import { useFailureToast } from '../failure/format-failure.ts';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import type { DeviceRow } from './device-row.ts';
import { useDevicesApi } from './use-devices-api.ts';

interface DeviceToolsProps {
  row: DeviceRow;
  mayDecide: boolean;
  onChanged: (device: WireDevice) => void;
}

/** Its tools, each with the state of its permission, a way to try it, and one to allow or refuse it. */
export function DeviceTools({ row, mayDecide, onChanged }: DeviceToolsProps) {
  const t = useTranslations('devices.tools');
  const offered = new Set(row.instances.flatMap(({ tools }) => tools));
  const { tools: allowed = [], denied = [] } = row.device ?? {};
  const known = [...allowed, ...denied].map(({ name }) => name);
  const names = [...new Set([...offered, ...known])].toSorted();
  const permissions = Object.assign({}, ...row.instances.map((one) => one.permissions ?? {}));
  if (names.length === 0) return <p className="mt-1 text-[13px] text-muted">{t('none')}</p>;
  return (
    <details className="mt-1">
      <summary className="min-h-6 text-[13px]">
        {t('label', { offered: offered.size, all: names.length })}
      </summary>
      <ul className="mt-1 space-y-0.5">
        {names.map((name) => (
          <li key={name} className="flex flex-wrap items-center gap-x-2 text-[13px]">
            <ToolName name={name} row={row} isOffered={offered.has(name)} />
            {!offered.has(name) && (
              <span className="text-muted">
                {t(denied.some((one) => one.name === name) ? 'denied' : 'notOffered')}
              </span>
            )}
            <PermissionState state={Object.hasOwn(permissions, name) ? permissions[name] : null} />
            {mayDecide && row.device && (
              <Decide device={row.device} name={name} onChanged={onChanged} />
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function ToolName({ name, row, isOffered }: { name: string; row: DeviceRow; isOffered: boolean }) {
  const t = useTranslations('devices.tools');
  if (!isOffered) {
    return (
      <span className="mono wrap-anywhere">
        <MarkedText text={name} />
      </span>
    );
  }
  return (
    <Link
      href={`/tools?${new URLSearchParams({ tool: name, client: row.clientId })}`}
      className="mono underline wrap-anywhere"
      title={t('try')}
    >
      <MarkedText text={name} />
    </Link>
  );
}

interface DecideProps {
  device: WireDevice;
  name: string;
  onChanged: (device: WireDevice) => void;
}

/** Takes back what was allowed, or allows what was refused; what waits is decided above. */
function Decide({ device, name, onChanged }: DecideProps) {
  const t = useTranslations('devices');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const [isSending, setSending] = useState(false);
  const allowed = device.tools.find((one) => one.name === name);
  // Of several forms the one that was denied last.
  const denied = device.denied.findLast((one) => one.name === name);
  const tool = allowed ?? denied;
  if (!tool || device.waiting.some((one) => one.tool.name === name)) return null;
  const decide = async () => {
    if (isSending) return;
    setSending(true);
    const decision = { [allowed ? 'deny' : 'allow']: [tool.hash] };
    const answer = await api.decideTools(device.device_id, decision);
    setSending(false);
    if (answer.ok) onChanged(answer.value);
    else showFailure(t('waiting.notDecided'), answer);
  };
  return (
    <Button
      size="sm"
      aria-disabled={isSending}
      aria-label={t(allowed ? 'tools.takeBackNamed' : 'waiting.allowNamed', { name })}
      onClick={() => void decide()}
    >
      {t(allowed ? 'tools.takeBack' : 'waiting.allow')}
    </Button>
  );
}

const STATES = ['granted', 'prompt', 'denied'] as const;

function PermissionState({ state }: { state: unknown }) {
  const t = useTranslations('devices.tools.permission');
  const known = STATES.find((one) => one === state);
  if (!known) return null;
  return <span className={known === 'denied' ? 'text-error' : 'text-muted'}>{t(known)}</span>;
}
