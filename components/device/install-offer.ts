import { createObservable, type Observable } from '#lib/util/observable';

/** Chromium's event, which TypeScript does not know. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>;
}

const offer = createObservable<(() => Promise<void>) | null>(null);

/** Shows the browser's own dialog; null where it offers none, or the page is installed. */
export const installOffer: Observable<(() => Promise<void>) | null> = offer;

/** The browser offers it once, maybe before the part that shows it is there. */
export function keepInstallOffer(): void {
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    offer.set(async () => {
      offer.set(null);
      await (event as InstallEvent).prompt();
    });
  });
  window.addEventListener('appinstalled', () => offer.set(null));
}
