import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { CodeForm } from './code-form.tsx';
import { useDevicePage } from './device-context.tsx';
import { hashOfToken, newDeviceToken } from './new-token.ts';
import { OfferForm } from './offer-form.tsx';
import { createPairingStore, type PairingStep, type PairingStore } from './pairing-store.ts';
import { pauseOrOnline } from './pause.ts';
import { StepHeading } from './step-heading.tsx';
import { fill } from './texts.ts';
import { WaitingForPerson } from './waiting-for-person.tsx';

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
