import { useSyncExternalStore } from 'react';
import { isApple } from '../push/push-browser.ts';
import { useDevicePage } from './device-context.tsx';
import { installOffer } from './install-offer.ts';

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
