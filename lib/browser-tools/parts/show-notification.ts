interface Options {
  readonly body?: string;
}

/** What shows notifications in a browser. */
interface NotificationParts {
  /** Of the service worker of this page, where there is one. */
  registration(): Promise<
    | {
        /** Null while it is not started yet: it cannot show any then. */
        readonly active: unknown;
        showNotification(title: string, options: Options): Promise<void>;
      }
    | undefined
  >;
  construct(title: string, options: Options): void;
}

const pageParts: NotificationParts = {
  registration: async () => navigator.serviceWorker?.getRegistration(),
  construct(title, options) {
    new Notification(title, options).onclick = () => window.focus();
  },
};

/** Chrome on Android has the constructor, and throws from it: it shows those of a service worker alone (BT71). */
export const createShowNotification =
  (parts: NotificationParts = pageParts) =>
  async (title: string, body: string | undefined): Promise<void> => {
    const options = body === undefined ? {} : { body };
    const registration = await parts.registration();
    if (registration?.active) await registration.showNotification(title, options);
    else parts.construct(title, options);
  };
