import { useState } from 'react';
import { useDevicePage } from './device-context.tsx';
import type { PairedDevice } from './device-memory.ts';
import type { DeviceStore } from './device-store.ts';
import { type ExaminedStep, examine } from './examine.ts';
import { type DeviceTexts, fill } from './texts.ts';
import { toolName } from './tool-words.ts';

const TONES = {
  ok: 'text-success',
  failed: 'text-error',
  unsure: 'text-wait',
  limited: 'text-wait',
};
const SIGNS = { ok: '✓', failed: '✕', unsure: '?', limited: '!' };

/** Which step of the connection fails, and what mends it. */
export function ExaminePanel({ kept, store }: { kept: PairedDevice; store: DeviceStore }) {
  const { texts, api } = useDevicePage();
  const [steps, setSteps] = useState<readonly ExaminedStep[]>([]);
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    if (isRunning) return;
    setRunning(true);
    const { isSecureContext } = window;
    const parts = { kept, api, isSecureContext, device: store.getState() };
    setSteps(await examine({ ...parts, fetch: (...asked) => fetch(...asked), now: Date.now }));
    setRunning(false);
  };
  const button = steps.length === 0 ? texts.examine.run : texts.examine.again;
  return (
    <section aria-labelledby="examine" className="flex flex-col gap-2">
      <h2 id="examine" className="font-semibold text-lg">
        {texts.examine.title}
      </h2>
      <button type="button" className="btn" aria-disabled={isRunning} onClick={() => void run()}>
        {isRunning ? texts.examine.running : button}
      </button>
      <ul aria-live="polite" className="flex flex-col gap-2 empty:hidden">
        {steps.map((step) => (
          <li key={`${step.name}-${step.detail}`} data-step={step.name} data-state={step.state}>
            <Step step={step} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Step({ step }: { step: ExaminedStep }) {
  const { texts } = useDevicePage();
  const { label, detail, fix, isOfTrust = false } = words(step, texts);
  return (
    <>
      <p className="flex gap-2">
        <span aria-hidden className={`font-bold ${TONES[step.state]}`}>
          {SIGNS[step.state]}
        </span>
        <span className="flex-1">
          {label}
          {detail !== '' && <span className="text-muted"> · {detail}</span>}
        </span>
        <span className={`font-semibold ${TONES[step.state]}`}>{texts.examine[step.state]}</span>
      </p>
      {(step.state === 'failed' || step.state === 'limited') && (
        <p className="pl-6 text-sm">
          {fix}{' '}
          {isOfTrust && (
            <a href="/trust" className="underline">
              {texts.examine.trust}
            </a>
          )}
        </p>
      )}
    </>
  );
}

interface Words {
  label: string;
  detail: string;
  fix: string;
  /** The certificate of the workbench mends it. */
  isOfTrust?: boolean;
}

/** A step in words: what was looked at, what was found, and what mends it. */
function words({ name, state, detail = '', isAsked }: ExaminedStep, texts: DeviceTexts): Words {
  const { examine: t } = texts;
  const isOk = state === 'ok';
  switch (name) {
    case 'secure':
      return { label: t.secure, detail: '', fix: t.secureFix, isOfTrust: true };
    case 'server':
      return {
        label: t.server,
        detail: isOk ? fill(t.serverMs, { ms: detail }) : '',
        fix: t.serverFix,
      };
    case 'clock': {
      const apart = fill(t.clockOff, { seconds: detail });
      return { label: t.clock, detail: apart, fix: fill(t.clockFix, { seconds: detail }) };
    }
    case 'token':
      return { label: t.token, detail: '', fix: t.tokenFix };
    case 'line': {
      if (state === 'failed') return { label: t.line, detail: '', ...lineFix(detail, t) };
      if (detail !== 'stream') return { label: t.line, detail: t.socket, fix: '' };
      return { label: t.line, detail: t.stream, fix: t.streamFix, isOfTrust: true };
    }
    case 'permission': {
      const label = fill(t.permission, { tool: toolName(texts, String(detail)) });
      return { label, detail: isAsked ? t.permissionAsk : '', fix: t.permissionFix };
    }
  }
}

/** By the state that the connection is in. */
function lineFix(
  state: string | number,
  t: DeviceTexts['examine'],
): Pick<Words, 'fix' | 'isOfTrust'> {
  switch (state) {
    case 'elsewhere':
      return { fix: t.lineElsewhere };
    case 'disconnected':
      return { fix: t.lineDisconnected };
    case 'revoked':
    case 'unknown':
      return { fix: t.lineRevoked };
    default:
      return { fix: navigator.onLine ? t.lineFix : t.lineOffline, isOfTrust: navigator.onLine };
  }
}
