import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { newDeviceToken } from '#lib/client/client-identity';
import { formatDuration } from '#lib/format/amounts';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { OLDEST_BROWSERS } from '#lib/i18n/oldest-browsers';
import { sha256Hex } from '#lib/util/sha256';
import { serverNow } from '../ui/server-clock.ts';
import { useDevicePage } from './device-context.tsx';
import type { AskingDevice } from './device-memory.ts';
import { OfferForm } from './offer-form.tsx';
import { createPairingStore, type PairingStep, type PairingStore } from './pairing-store.ts';
import { ProblemNote } from './problem-note.tsx';
import { StepHeading } from './step-heading.tsx';
import { fill } from './texts.ts';
import { useNow } from './use-now.ts';
/** From the code to the outcome (DP1 to DP8). */
export function PairView({ code, onGo }: { code: string; onGo: (path: string) => void }) {
  const { api, memory, texts } = useDevicePage();
  const [store] = useState(() => {
    const deps = { api, memory, newToken: newDeviceToken, hashOf: hashOfToken };
    return createPairingStore({ ...deps, pause: pauseOrOnline }, code);
  });
  const at = useStore(store, (state) => state.at);
  useStart(store);
  useEffect(() => {
    // The code was used up, or is none: it does not stay in the address, nor in the history.
    if (at.step !== 'code' && at.step !== 'looking' && at.step !== 'offer') {
      history.replaceState(null, '', '/pair');
    }
  }, [at.step]);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col safe-area gap-4 [--edge:1rem]">
      <p className="text-muted">{texts.app}</p>
      <Step at={at} store={store} onGo={onGo} />
    </main>
  );
}

/** A code that came by the link is looked up at once; a request that waits is followed. */
function useStart(store: PairingStore): void {
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    const { at, look, follow } = store.getState();
    if (at.step === 'code' && at.typed !== '') void look();
    if (at.step === 'waiting') void follow();
  }, [store]);
}

function Step({
  at,
  store,
  onGo,
}: {
  at: PairingStep;
  store: PairingStore;
  onGo: (path: string) => void;
}) {
  const { texts } = useDevicePage();
  const { again } = store.getState();
  switch (at.step) {
    case 'code':
    case 'looking':
      return <CodeForm at={at} store={store} />;
    case 'offer':
    case 'joining':
      return <OfferForm at={at} store={store} />;
    case 'waiting':
      return <WaitingForPerson kept={at.kept} isUnsure={at.isUnsure} />;
    case 'paired':
      return (
        <Outcome title={fill(texts.pair.paired, { workbench: at.kept.workbench.name })}>
          <button type="button" className="btn btn-primary" onClick={() => onGo('/device')}>
            {texts.pair.open}
          </button>
        </Outcome>
      );
    case 'ended':
      return (
        <Outcome title={texts.ended[`${at.outcome}Title`]}>
          <p>{fill(texts.ended[at.outcome], { workbench: at.workbench.name })}</p>
          <button type="button" className="btn btn-primary" onClick={again}>
            {texts.ended.again}
          </button>
        </Outcome>
      );
  }
}

function Outcome({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <StepHeading>{title}</StepHeading>
      {children}
    </>
  );
}

/** Resolves after that many milliseconds, earlier when the network or the page is back. */
function pauseOrOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = () => {
      clearTimeout(timer);
      ended.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener('online', end, { signal: ended.signal });
  });
}

/** A person at the workbench decides; this page asks until it has the outcome. */
function WaitingForPerson({ kept, isUnsure }: { kept: AskingDevice; isUnsure: boolean }) {
  const { texts, locale } = useDevicePage();
  const left = kept.expires_at * 1_000 - useNow(serverNow);
  const time = formatDuration(left, locale, { whole: true, fromSeconds: true });
  const workbench = showControlCharacters(kept.workbench.name);
  return (
    <>
      <StepHeading>{fill(texts.pair.waiting, { workbench })}</StepHeading>
      <div aria-hidden className="h-1 overflow-hidden rounded bg-surface2">
        <div className="indet h-full bg-accent" />
      </div>
      <p>{texts.pair.waitingHint}</p>
      {/* A clock that is read out each second would drown all else. */}
      <p className="text-muted tabular-nums">
        {left > 0 ? fill(texts.pair.left, { time }) : texts.pair.expiresSoon}
      </p>
      <p role="status" className="text-wait empty:hidden">
        {isUnsure ? texts.pair.unsure : ''}
      </p>
    </>
  );
}

type At = Extract<PairingStep, { step: 'code' | 'looking' }>;

/** The code, typed or pasted in any form that people use. */
function CodeForm({ at, store }: { at: At; store: PairingStore }) {
  const { texts } = useDevicePage();
  const { type, look } = store.getState();
  const field = useRef<HTMLInputElement>(null);
  const isLooking = at.step === 'looking';
  const problem = at.step === 'code' ? at.problem : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void look();
  };
  const paste = () => {
    // Denied, or nothing there: the person can paste by the keyboard.
    const read = navigator.clipboard.readText().catch(() => '');
    void read.then((text) => type(codeOf(text))).then(() => field.current?.focus());
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <h1 className="font-semibold text-2xl">{texts.pair.title}</h1>
      <p>{texts.pair.intro}</p>
      <label className="flex flex-col gap-1 font-medium">
        {texts.pair.code}
        <input
          ref={field}
          className="field mono text-center text-xl uppercase tracking-widest"
          value={at.typed}
          onChange={({ target }) => type(codeOf(target.value))}
          readOnly={isLooking}
          autoComplete="one-time-code"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={512}
          aria-describedby="code-hint code-problem"
          aria-invalid={problem !== undefined}
        />
      </label>
      <p id="code-hint" className="text-muted">
        {texts.pair.codeHint}
      </p>
      <ProblemNote id="code-problem" problem={problem} />
      <div className="grid grid-cols-2 gap-2">
        {/* Without a secure context there is no reading of the clipboard. */}
        <button
          type="button"
          className="btn"
          disabled={navigator.clipboard?.readText === undefined}
          onClick={paste}
        >
          {texts.pair.paste}
        </button>
        <button type="submit" className="btn btn-primary" aria-disabled={isLooking}>
          {texts.pair.next}
        </button>
      </div>
      <p className="text-muted text-sm">{fill(texts.pair.oldest, { browsers: OLDEST_BROWSERS })}</p>
      <p role="status" className="text-muted empty:hidden">
        {isLooking ? texts.pair.looking : ''}
      </p>
    </form>
  );
}

/** A whole link is taken as well: its code is what people mean. */
const codeOf = (typed: string): string => (/\/pair\/([^/?#\s]+)/.exec(typed)?.[1] ?? typed).trim();

/** What the server stores of a token. */
const hashOfToken = (token: string): string => sha256Hex(new TextEncoder().encode(token));
