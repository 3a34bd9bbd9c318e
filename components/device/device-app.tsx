import { useState } from 'react';
import { useDevicePage } from './device-context.tsx';
import { DeviceView } from './device-view.tsx';
import { PairView } from './pair-view.tsx';

/** One page for `/pair`, `/pair/CODE` and `/device`. */
export function DeviceApp() {
  const { memory, texts } = useDevicePage();
  const [{ path }, setPlace] = useState({ path: location.pathname });
  // Read anew after each step, also one to the same path: pairing and forgetting change what is kept.
  const kept = memory.device();
  const go = (next: string) => {
    history.replaceState(null, '', next);
    setPlace({ path: next });
  };
  const isPairing = path.startsWith('/pair') || memory.asking() !== undefined;
  if (isPairing) return <PairView code={codeIn(path)} onGo={go} />;
  if (kept)
    return <DeviceView kept={kept} onForgotten={() => go('/device')} onPair={() => go('/pair')} />;
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col safe-area gap-4 [--edge:1rem]">
      <h1 className="font-semibold text-2xl">{texts.none.title}</h1>
      <p>{texts.none.text}</p>
      <button type="button" className="btn btn-primary" onClick={() => go('/pair')}>
        {texts.none.pair}
      </button>
    </main>
  );
}

function codeIn(path: string): string {
  try {
    return decodeURIComponent(path.split('/')[2] ?? '');
  } catch {
    return ''; // Not UTF-8: no link of ours.
  }
}
