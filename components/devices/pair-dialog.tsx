'use client';

import { useLocale, useTranslations } from 'next-intl';
import encodeQR from 'qr';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { formatCountdown } from '#lib/format/amounts';
import { fingerprintWords } from '#lib/i18n/fingerprint-words';
import type { OpenedPairing, WirePairing } from '#lib/protocol/device';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { useNow } from '../shell/use-now.ts';
import { copyText } from '../tool-call/copy-text.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/select.tsx';
import { showErrorToast, showToast } from '../ui/toast.ts';
import { PairingRequest } from './pairing-request.tsx';
import { useDevicesApi } from './use-devices-api.ts';

interface PairDialogProps {
  /** As they are known now, to follow the one of this dialog. */
  pairings: readonly WirePairing[];
  onClose: () => void;
  onDecided: (pairing: WirePairing) => void;
}

/** A code for one device, and what becomes of it. A code that nothing has used dies with the dialog. */
export function PairDialog({ pairings, onClose, onDecided }: PairDialogProps) {
  const t = useTranslations('devices.pair');
  const common = useTranslations('common');
  const { opened, failure, open } = useOpenedPairing();
  const api = useDevicesApi();
  const pairing = useFollowed(opened, pairings);
  const close = () => {
    if (opened && pairing?.state === 'open') void api.withdraw(opened.pairing_id);
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && close()}
      title={t('title')}
      description={t('text')}
      closeLabel={common('close')}
      width="max-w-xl"
    >
      {failure && <Failed failure={failure} onAgain={open} />}
      {!failure && !(opened && pairing) && (
        <p role="status" className="text-muted">
          {t('loading')}
        </p>
      )}
      {opened && pairing && (
        <PairingState
          opened={opened}
          pairing={pairing}
          onAgain={open}
          onClose={close}
          onDecided={onDecided}
        />
      )}
    </Dialog>
  );
}

function useOpenedPairing() {
  const api = useDevicesApi();
  const [opened, setOpened] = useState<OpenedPairing | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const open = useCallback(async () => {
    setOpened(null);
    setFailure(null);
    const answer = await api.openPairing();
    if (answer.ok) setOpened(answer.value);
    else setFailure(answer);
  }, [api]);
  const wasOpened = useRef(false);
  useEffect(() => {
    // StrictMode mounts twice; two codes would be two doors.
    if (wasOpened.current) return;
    wasOpened.current = true;
    void open();
  }, [open]);
  return { opened, failure, open };
}

/** As it is listed. One that is not listed yet is as it was opened; one that was, and is no more, stays over. */
function useFollowed(
  opened: OpenedPairing | null,
  pairings: readonly WirePairing[],
): Followed | null {
  const listed = pairings.find((one) => one.pairing_id === opened?.pairing_id);
  const [last, setLast] = useState<WirePairing>();
  if (listed && listed !== last) setLast(listed);
  if (listed || opened === null) return listed ?? null;
  if (last?.pairing_id !== opened.pairing_id) return opened;
  // A server that is started anew has no codes of before.
  const isUndecided = last.state === 'open' || last.state === 'asking';
  return isUndecided ? { ...last, state: 'lost' } : last;
}

function Failed({ failure, onAgain }: { failure: ApiFailure; onAgain: () => void }) {
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  return (
    <>
      <p role="alert" className="text-error wrap-anywhere">
        {formatFailure(failure)}
      </p>
      <Button size="sm" className="mt-2" onClick={onAgain}>
        {common('again')}
      </Button>
    </>
  );
}

type Followed = Omit<WirePairing, 'state'> & { readonly state: WirePairing['state'] | 'lost' };

interface PairingStateProps {
  opened: OpenedPairing;
  pairing: Followed;
  onAgain: () => void;
  onClose: () => void;
  onDecided: (pairing: WirePairing) => void;
}

function PairingState({ opened, pairing, onAgain, onClose, onDecided }: PairingStateProps) {
  const t = useTranslations('devices.pair');
  const common = useTranslations('common');
  const announce = useAnnounce();
  const { state, request } = pairing;
  useEffect(() => {
    if (state !== 'open') announce(t(`state.${state}`));
  }, [state, announce, t]);
  if (state === 'open') return <OpenCode opened={opened} />;
  if (state === 'asking' && request) {
    return <PairingRequest pairing={{ ...pairing, state, request }} onDecided={onDecided} />;
  }
  const isOver = state === 'approved';
  return (
    <div data-testid="pairing-outcome" data-state={state}>
      <p className={isOver ? 'text-success' : ''}>{t(`state.${state}`)}</p>
      <div className="mt-3 flex gap-2">
        {!isOver && (
          <Button variant="primary" onClick={onAgain}>
            {t('newCode')}
          </Button>
        )}
        <Button onClick={onClose}>{common('close')}</Button>
      </div>
    </div>
  );
}

/** The code as a picture, a link and letters; and by what the phone shows that it reached this server. */
function OpenCode({ opened }: { opened: OpenedPairing }) {
  const t = useTranslations('devices.pair');
  const language = useLocale().startsWith('zh') ? 'zh' : 'en';
  const { links, code, workbench, expires_at } = opened;
  const [link = '', setLink] = useState(links[0]);
  const now = useNow(true);
  const copy = async () => {
    if (await copyText(link)) showToast(t('copied'));
    else showErrorToast(t('notCopied'));
  };
  return (
    <div className="flex flex-wrap items-start gap-4" data-testid="pairing-code">
      <QrPicture text={link} label={t('qr')} />
      <div className="min-w-56 flex-1 space-y-3">
        <div>
          <p className="text-muted">{t('typed', { address: new URL('/pair', link).href })}</p>
          <p className="mono text-2xl font-bold tracking-widest" data-testid="code">
            {code.slice(0, 4)}-{code.slice(4)}
          </p>
        </div>
        <p className="tabular-nums" role="timer" aria-live="off">
          {t('left', { time: formatCountdown(Math.max(0, expires_at * 1_000 - now)) })}
        </p>
        <p>
          {t('shows', { name: workbench.name })}{' '}
          <strong className="block" data-testid="fingerprint">
            {fingerprintWords(workbench.fingerprint, language).join(' ')}
          </strong>
        </p>
        {links.length > 1 && (
          <Select
            label={t('address')}
            value={link}
            onValueChange={setLink}
            options={links.map((one) => ({ value: one, label: new URL(one).origin }))}
          />
        )}
        <p className="mono text-[13px] wrap-anywhere" data-testid="pair-link">
          {link}
        </p>
        <Button size="sm" onClick={() => void copy()}>
          {t('copy')}
        </Button>
      </div>
    </div>
  );
}

/** Light around it, in modules: scanners need four. */
const QUIET = 4;

/** A QR code of `text`, black on white in both themes: scanners do not read it the other way round. */
function QrPicture({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawQr(text), [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="aspect-square w-full max-w-60 rounded-lg"
      data-testid="qr"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** One path of unit squares; a picture of 29 by 29 has about 400. */
function drawQr(text: string): { size: number; path: string } {
  const rows = encodeQR(text, 'raw', { border: QUIET });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { size: rows.length, path: squares.join('') };
}
