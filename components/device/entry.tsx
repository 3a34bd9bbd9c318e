import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { followServerClock } from '../ui/server-clock.ts';
import { DevicePageProvider, useDevicePage } from './device-context.tsx';
import { createDeviceMemory, pageStorage } from './device-memory.ts';
import { DeviceView } from './device-view.tsx';
import { keepInstallOffer } from './install-offer.ts';
import { PairView } from './pair-view.tsx';
import { createPairingApi } from './pairing-api.ts';
import { loadTexts } from './texts.ts';

/** Starts the page in the language that the server wrote into it. */
async function start(root: HTMLElement): Promise<void> {
  keepInstallOffer();
  const locale = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
  const { storage, isKept } = pageStorage();
  const memory = createDeviceMemory(storage);
  const api = createPairingApi(followServerClock((url, init) => fetch(url, init)));
  const page = { texts: await loadTexts(locale), locale, memory, isKept, api } as const;
  createRoot(root).render(
    <StrictMode>
      <DevicePageProvider page={page}>
        <DeviceApp />
      </DevicePageProvider>
    </StrictMode>,
  );
  // Without a secure context there is none; the page works as well, and cannot be installed.
  if ('serviceWorker' in navigator) {
    await navigator.serviceWorker.register('/device/sw.js', { scope: '/device' });
  }
}

const root = document.getElementById('device');
if (root) start(root).catch((error: unknown) => console.warn(`device page: ${String(error)}`));

/** One page for `/pair`, `/pair/CODE` and `/device`. */
function DeviceApp() {
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
