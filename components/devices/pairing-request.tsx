'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useId, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import type { PairingDecision } from '#lib/api/devices-api';
import type { DeviceTool, WirePairing } from '#lib/protocol/device';
import { DEVICE_NAME_CHARS } from '#lib/protocol/pairing-code';
import { useFailureToast } from '../failure/format-failure.ts';
import { useHasRole } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useFocusStays } from '../ui/use-focus-stays.ts';
import { useDevicesApi } from './use-devices-api.ts';

export interface PairingRequestProps {
  pairing: WirePairing & { readonly request: NonNullable<WirePairing['request']> };
  onDecided: (pairing: WirePairing) => void;
}

/** A device that asks to be let in: what it says of itself, where it is, which tools it wants. */
export function PairingRequest({ pairing, onDecided }: PairingRequestProps) {
  const t = useTranslations('devices.request');
  const { request } = pairing;
  const nameId = useId();
  const form = useFocusStays<HTMLFormElement>();
  const { decide, isSending } = useDecision(pairing, onDecided);
  const [chosen, setChosen] = useState<readonly string[]>(() =>
    request.tools.map(({ name }) => name),
  );
  const [name, setName] = useState(request.name);
  const mayDecide = useHasRole('operator');
  const approve = (event: FormEvent) => {
    event.preventDefault();
    const given = name.trim();
    const named = given === '' || given === request.name ? {} : { name: given };
    void decide({ decision: 'approve', ...named, tools: chosen });
  };
  return (
    <form
      ref={form}
      aria-labelledby={nameId}
      data-testid="pairing-request"
      data-pairing={pairing.pairing_id}
      onSubmit={approve}
      className="rounded-lg border border-wait bg-waitbg/40 px-3 py-2"
    >
      <h2 id={nameId} className="font-bold wrap-anywhere">
        {t.rich('title', {
          name: () => (
            <bdi>
              <MarkedText text={request.name} />
            </bdi>
          ),
        })}
      </h2>
      <RequestFacts request={request} />
      <ToolChoices
        tools={request.tools}
        chosen={chosen}
        onChange={setChosen}
        isFixed={!mayDecide}
      />
      {mayDecide && (
        <>
          <label className="mt-2 block max-w-sm space-y-1">
            <span className="font-medium">{t('name')}</span>
            <input
              value={name}
              maxLength={DEVICE_NAME_CHARS}
              autoComplete="off"
              onChange={(event) => setName(event.target.value)}
              className="field w-full"
            />
          </label>
          <div className="mt-3 flex flex-wrap gap-2">
            <Button type="submit" variant="primary" aria-disabled={isSending}>
              {t('approve')}
            </Button>
            <Button aria-disabled={isSending} onClick={() => void decide({ decision: 'deny' })}>
              {t('deny')}
            </Button>
            {request.origin !== null && (
              <Button
                variant="danger"
                aria-disabled={isSending}
                onClick={() => void decide({ decision: 'deny', block: true })}
              >
                {t('block')}
              </Button>
            )}
          </div>
        </>
      )}
    </form>
  );
}

/** What cannot be proved is shown as what the device says. */
function RequestFacts({ request }: Pick<PairingRequestProps['pairing'], 'request'>) {
  const t = useTranslations('devices.request');
  const { kind, browser, address, origin } = request;
  return (
    <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-[13px]">
      {origin !== null && (
        <>
          <dt className="text-muted">{t('origin')}</dt>
          <dd className="mono font-semibold wrap-anywhere">
            <MarkedText text={origin} />
          </dd>
        </>
      )}
      <dt className="text-muted">{t('browser')}</dt>
      <dd className="wrap-anywhere">
        {t(`kind.${kind}`)}, <MarkedText text={browser} />
      </dd>
      <dt className="text-muted">{t('address')}</dt>
      <dd className="mono wrap-anywhere">{address}</dd>
    </dl>
  );
}

/** Without an answer the decision may have arrived all the same. */
function failedWords({ code, status }: ApiFailure) {
  // Another person was first: what became of it is shown in place of the question.
  if (code === 'already_final') return 'decidedBefore';
  return status === 0 ? 'unsure' : 'notDecided';
}

/** Sends one decision at a time; a second click while it is under way is none. */
function useDecision(pairing: WirePairing, onDecided: (pairing: WirePairing) => void) {
  const t = useTranslations('devices.request');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const [isSending, setSending] = useState(false);
  const decide = async (decision: PairingDecision) => {
    if (isSending) return;
    setSending(true);
    const answer = await api.decide(pairing.pairing_id, decision);
    setSending(false);
    if (answer.ok) onDecided(answer.value);
    else showFailure(t(failedWords(answer)), answer);
  };
  return { decide, isSending };
}

interface ToolChoicesProps {
  tools: readonly DeviceTool[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  isFixed: boolean;
}

/** The tools that a device wants to offer, each with what it says that the tool does. */
function ToolChoices({ tools, chosen, onChange, isFixed }: ToolChoicesProps) {
  const t = useTranslations('devices.request');
  if (tools.length === 0) return <p className="mt-2 text-muted">{t('noTools')}</p>;
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((one) => one !== name));
  return (
    <fieldset disabled={isFixed} className="mt-2 min-w-0 border-0">
      <legend className="font-medium">{t('tools', { count: tools.length })}</legend>
      <ul className="mt-1 max-h-64 overflow-y-auto">
        {tools.map(({ name, description, display_name, annotations }) => (
          <li key={name}>
            <label className="flex min-h-7 items-start gap-2 py-1 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => toggle(name, event.target.checked)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0 wrap-anywhere">
                <span className="mono font-semibold">
                  <MarkedText text={name} />
                </span>
                {display_name !== undefined && (
                  <>
                    {' '}
                    <MarkedText text={display_name} />
                  </>
                )}
                <span className="block text-[13px] text-muted">
                  <MarkedText text={description} keepLayout />
                </span>
                {annotations?.readOnlyHint === true && (
                  <span className="block text-[13px] text-wait">{t('onlyReads')}</span>
                )}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
