import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import { formatDuration } from '#lib/format/amounts';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { LANGUAGE_TAGS } from '#lib/i18n/locales';
import { DEVICE_WORKER, endPush, isApple } from '../push/push-browser.ts';
import { AskSheet } from './ask-sheet.tsx';
import { callerName } from './caller-name.ts';
import { ConnectionLine } from './connection-line.tsx';
import { useDevicePage } from './device-context.tsx';
import type { PairedDevice } from './device-memory.ts';
import type { RunningDevice } from './device-runtime.ts';
import { createDeviceStore, type DeviceStore, type Use } from './device-store.ts';
import { ExaminePanel } from './examine-panel.tsx';
import { installOffer } from './install-offer.ts';
import { KeepAwake } from './keep-awake.tsx';
import { PushSwitch } from './push-switch.tsx';
import { fill } from './texts.ts';
import { ToolGroups } from './tool-groups.tsx';
import { toolName } from './tool-words.ts';
import { useAttention } from './use-attention.ts';
export interface DeviceViewProps {
  kept: PairedDevice;
  onForgotten: () => void;
  onPair: () => void;
}

/** This browser as a device: its state, its tools, and what asks for the person (DP9 to DP16). */
export function DeviceView({ kept: given, onForgotten, onPair }: DeviceViewProps) {
  // Read anew with each drawing of the page, and the same until it is forgotten.
  const [kept] = useState(given);
  const { texts, memory, isKept } = useDevicePage();
  const [store] = useState(() => createDeviceStore(memory));
  const running = useRunningDevice(kept, store);
  useAttention(store, kept.name);
  // The server does not accept the token any more: no control of this page has an effect.
  const isOver = useStore(
    store,
    ({ connection: { state } }) => state === 'revoked' || state === 'unknown',
  );
  const pairAgain = () => {
    memory.forgetDevice();
    onPair();
  };
  const name = showControlCharacters(kept.name);
  const workbench = showControlCharacters(kept.workbench.name);
  return (
    <>
      {/* Before all else in the order of the keyboard: they wait for the person, or end what runs. */}
      <AskSheet store={store} />
      <RunningTools store={store} />
      <main className="mx-auto flex min-h-dvh max-w-md flex-col safe-area gap-6 [--edge:1rem] pb-24">
        <header className="flex flex-col gap-1">
          <h1 className="font-semibold text-2xl">{name}</h1>
          {!isOver && <p className="text-muted">{fill(texts.state.pairedWith, { workbench })}</p>}
          <ConnectionLine
            workbench={workbench}
            store={store}
            running={running}
            onPair={pairAgain}
          />
          {!isKept && <p className="text-wait">{texts.state.notKept}</p>}
        </header>
        {!isOver && (
          <>
            <KeepAwake />
            <PushSwitch kept={kept} />
            <ToolList store={store} />
            <LastUses store={store} />
            <ExaminePanel kept={kept} store={store} />
            <InstallHint />
            <ForgetDevice kept={kept} running={running} onForgotten={onForgotten} />
          </>
        )}
      </main>
    </>
  );
}

/** The client library and the tools are loaded now, after the page has been drawn. */
function useRunningDevice(kept: PairedDevice, store: DeviceStore): RunningDevice | null {
  const { api } = useDevicePage();
  const [running, setRunning] = useState<RunningDevice | null>(null);
  useEffect(() => {
    let isOver = false;
    let device: RunningDevice | undefined;
    const onProblem = (message: string) => console.warn(`device: ${message}`);
    import('./device-runtime.ts').then(
      ({ startDevice }) => {
        if (isOver) return;
        device = startDevice({ kept, store, api, onProblem });
        setRunning(device);
      },
      (error: unknown) => {
        store.setState({ connection: { state: 'failed', reason: String(error) } });
      },
    );
    return () => {
      isOver = true;
      void device?.stop();
    };
  }, [kept, store, api]);
  return running;
}

function ToolList({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const { tools, rejected, permissions, connection } = useStore(store);
  if (connection.state !== 'starting' && tools.length === 0) return <p>{texts.tools.none}</p>;
  return (
    <section aria-labelledby="tools" className="flex flex-col gap-2">
      <h2 id="tools" className="font-semibold text-lg">
        {texts.tools.title}
      </h2>
      <ToolGroups tools={tools} store={store}>
        {({ name }) => (
          <>
            {permissions[name] === 'denied' && <p className="text-error">{texts.tools.denied}</p>}
            <Rejection reason={rejected[name]} />
          </>
        )}
      </ToolGroups>
    </section>
  );
}

function Rejection({ reason }: { reason: { code: string; message: string } | undefined }) {
  const { texts } = useDevicePage();
  if (reason === undefined) return null;
  // A person at the workbench has not seen it yet; that is no mistake of anything.
  if (reason.code.includes('wait')) return <p className="text-wait">{texts.tools.waits}</p>;
  if (reason.code === 'not_allowed') return <p className="text-wait">{texts.tools.notAllowed}</p>;
  const message = showControlCharacters(reason.message);
  return <p className="text-error">{fill(texts.tools.rejected, { message })}</p>;
}

interface ForgetDeviceProps {
  kept: PairedDevice;
  running: RunningDevice | null;
  onForgotten: () => void;
}

/** Ends the pairing on this side. The server's side is the workbench's to end. */
function ForgetDevice({ kept, running, onForgotten }: ForgetDeviceProps) {
  const { texts, memory } = useDevicePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const workbench = showControlCharacters(kept.workbench.name);
  const forget = async () => {
    dialog.current?.close();
    // First the token: what fails after it leaves no access behind.
    memory.forget();
    await running?.stop();
    // The push service then answers the server that there is none, which removes it there.
    await endPush(DEVICE_WORKER);
    onForgotten();
  };
  return (
    <>
      <button type="button" className="btn btn-danger" onClick={() => dialog.current?.showModal()}>
        {texts.forget.button}
      </button>
      <dialog
        ref={dialog}
        aria-labelledby="forget"
        className="popup m-auto max-w-sm p-4 backdrop:bg-black/50"
      >
        <div className="flex flex-col gap-3">
          <h2 id="forget" className="font-semibold text-xl">
            {texts.forget.title}
          </h2>
          <p>{fill(texts.forget.text, { workbench })}</p>
          <div className="grid grid-cols-2 gap-2">
            <button type="button" className="btn" onClick={() => dialog.current?.close()}>
              {texts.forget.no}
            </button>
            <button type="button" className="btn btn-danger" onClick={() => void forget()}>
              {texts.forget.yes}
            </button>
          </div>
        </div>
      </dialog>
    </>
  );
}

/** How this page becomes an app; nothing where it is one, or cannot be. */
export function InstallHint() {
  const { texts } = useDevicePage();
  const install = useSyncExternalStore(installOffer.subscribe, installOffer.get);
  const isInstalled = matchMedia('(display-mode: standalone)').matches;
  if (isInstalled || (install === null && !isApple())) return null;
  return (
    <section aria-labelledby="install" className="flex flex-col gap-2">
      <h2 id="install" className="font-semibold text-lg">
        {texts.install.title}
      </h2>
      <p className="text-muted">{install ? texts.install.text : texts.install.ios}</p>
      {install && (
        <button type="button" className="btn" onClick={() => void install()}>
          {texts.install.button}
        </button>
      )}
    </section>
  );
}

/** What uses this device now, over the edge of the page, each with a button that ends it. */
function RunningTools({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const running = useStore(store, (state) => state.running);
  // A question has the lower edge.
  const edge = useStore(store, ({ asks }) => (asks.length > 0 ? 'top-0' : 'bottom-0'));
  if (running.length === 0) return null;
  return (
    <section
      aria-label={texts.running.title}
      className={`fade-in fixed inset-x-0 z-10 ${edge} mx-auto max-h-[40dvh] max-w-md overflow-y-auto rounded-2xl border-2 border-accent safe-area bg-bg shadow-(--shadow) [--edge:0.5rem]`}
    >
      <ul className="flex flex-col gap-1">
        {running.map(({ callId, tool, requestedBy, stop }) => {
          const label = toolName(texts, tool);
          const caller = callerName(requestedBy, texts);
          return (
            <li key={callId} className="flex items-center justify-between gap-2 pl-2">
              <span>{fill(texts.running.now, { caller, tool: label })}</span>
              <button
                type="button"
                className="btn btn-danger shrink-0"
                aria-label={fill(texts.running.stopTool, { tool: label })}
                onClick={stop}
              >
                {texts.running.stop}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const TONES: Record<Use['outcome'], string> = {
  done: 'text-success',
  declined: 'text-muted',
  failed: 'text-error',
  cancelled: 'text-muted',
};

/** What was used of this device, newest first. It stays here, in this browser. */
function LastUses({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const uses = useStore(store, (state) => state.uses);
  return (
    <section aria-labelledby="uses" className="flex flex-col gap-2">
      <h2 id="uses" className="font-semibold text-lg">
        {texts.uses.title}
      </h2>
      {uses.length === 0 ? (
        <p className="text-muted">{texts.uses.none}</p>
      ) : (
        <>
          <ol className="flex flex-col divide-y divide-line rounded-xl border border-line">
            {uses.map((use) => (
              <li key={`${use.callId}-${use.at}`} className="flex flex-col px-3 py-2">
                <UseLine use={use} />
              </li>
            ))}
          </ol>
          <button type="button" className="btn" onClick={store.getState().clearUses}>
            {texts.uses.clear}
          </button>
        </>
      )}
    </section>
  );
}

function UseLine({ use }: { use: Use }) {
  const { texts, locale } = useDevicePage();
  const at = new Date(use.at);
  const caller = callerName(use.requestedBy, texts);
  const options = { dateStyle: 'short', timeStyle: 'medium' } as const;
  return (
    <>
      <span className="flex justify-between gap-2">
        <span>{toolName(texts, use.tool)}</span>
        <span className={`font-semibold ${TONES[use.outcome]}`}>{texts.uses[use.outcome]}</span>
      </span>
      <span className="text-muted text-sm tabular-nums">
        <time dateTime={at.toISOString()}>{at.toLocaleString(LANGUAGE_TAGS[locale], options)}</time>
        {` · ${formatDuration(use.ms, locale)} · ${fill(texts.uses.by, { caller })}`}
      </span>
    </>
  );
}
