'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { WireDevice } from '#lib/protocol/device';
import { DEVICE_NAME_CHARS } from '#lib/protocol/pairing-code';
import { useFailureToast } from '../failure/format-failure.ts';
import { ConfirmButton } from '../settings/confirm-button.tsx';
import { Button } from '../ui/button.tsx';
import { showToast } from '../ui/toast.ts';
import { useFocusStays } from '../ui/use-focus-stays.ts';
import type { DeviceRow } from './device-row.ts';
import { useDevicesApi } from './use-devices-api.ts';

interface DeviceActionsProps {
  row: DeviceRow;
  onChanged: (device: WireDevice) => void;
}

/** Rename, disconnect, revoke. */
export function DeviceActions({ row, onChanged }: DeviceActionsProps) {
  const t = useTranslations('devices.actions');
  const common = useTranslations('common');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const { device, name } = row;
  const actions = useFocusStays<HTMLDivElement>();
  const revoke = async ({ device_id }: WireDevice) => {
    const answer = await api.revoke(device_id);
    if (answer.ok) onChanged(answer.value);
    else showFailure(t('notRevoked', { name }), answer);
    return answer.ok;
  };
  const disconnect = async () => {
    const answer = await api.disconnect(row.clientId);
    if (answer.ok) showToast(t('disconnected', { name }));
    else showFailure(t('notDisconnected', { name }), answer);
    return false;
  };
  return (
    <div ref={actions} className="flex flex-wrap items-start gap-2">
      {device && <Rename device={device} onChanged={onChanged} />}
      {row.instances.length > 0 && (
        <ConfirmButton
          label={t('disconnect')}
          about={name}
          question={t('askDisconnect', { name })}
          confirm={t('disconnectNow')}
          sending={t('disconnecting')}
          keep={common('keep')}
          onConfirm={disconnect}
        >
          {t('disconnectText')}
        </ConfirmButton>
      )}
      {device && (
        <ConfirmButton
          label={common('revoke')}
          about={name}
          question={t('askRevoke', { name })}
          confirm={common('revokeNow')}
          sending={common('revoking')}
          keep={common('keep')}
          onConfirm={() => revoke(device)}
        >
          {t('revokeText')}
        </ConfirmButton>
      )}
    </div>
  );
}

interface RenameProps {
  device: WireDevice;
  onChanged: (device: WireDevice) => void;
}

function Rename({ device, onChanged }: RenameProps) {
  const t = useTranslations('devices.actions');
  const common = useTranslations('common');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const [name, setName] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const wasOpen = useRef(false);
  const isOpen = name !== null;
  useEffect(() => {
    if (isOpen) field.current?.select();
    else if (wasOpen.current) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (name === null) {
    return (
      <Button
        ref={button}
        size="sm"
        className="mt-2"
        aria-label={`${t('rename')} ${device.name}`}
        onClick={() => setName(device.name)}
      >
        {t('rename')}
      </Button>
    );
  }
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return field.current?.focus();
    const answer = await api.rename(device.device_id, name.trim());
    if (!answer.ok) return showFailure(t('notRenamed', { name: device.name }), answer);
    setName(null);
    onChanged(answer.value);
  };
  return (
    <form onSubmit={(event) => void save(event)} className="mt-2 flex flex-wrap items-end gap-2">
      <label className="space-y-1">
        <span className="block text-xs font-semibold">{t('newName')}</span>
        <input
          ref={field}
          value={name}
          maxLength={DEVICE_NAME_CHARS}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
          onKeyDown={({ key, nativeEvent }) => {
            if (key === 'Escape' && !nativeEvent.isComposing) setName(null);
          }}
          className="field"
        />
      </label>
      <Button size="sm" type="submit" variant="primary">
        {common('save')}
      </Button>
      <Button size="sm" onClick={() => setName(null)}>
        {t('keepName')}
      </Button>
    </form>
  );
}
