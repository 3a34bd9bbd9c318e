import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { followServerClock } from '../ui/server-clock.ts';
import { DeviceApp } from './device-app.tsx';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory, pageStorage } from './device-memory.ts';
import { keepInstallOffer } from './install-offer.ts';
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
