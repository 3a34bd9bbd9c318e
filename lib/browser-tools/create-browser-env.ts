import { listenToTouches } from '../client/browser-environment.ts';
import type {
  Battery,
  DevicePrompts,
  Facing,
  PermissionName,
  PermissionState,
} from './browser-env.ts';
import { drawPage } from './draw-page.ts';
import { createDeviceParts } from './parts/create-device-parts.ts';
import { takeFrame } from './parts/take-frame.ts';

interface BatteryManager extends Battery, EventTarget {}

/** Some browsers have these beyond TypeScript's types. */
interface NavigatorExtras {
  readonly getBattery?: () => Promise<BatteryManager>;
  readonly deviceMemory?: number;
  readonly userAgentData?: {
    readonly brands: readonly { brand: string; version: string }[];
    readonly mobile: boolean;
    readonly platform: string;
  };
  readonly permissions?: Permissions;
  readonly mediaDevices?: MediaDevices;
  readonly clipboard?: Clipboard;
}

/** The real browser, and the only place where the tools touch `navigator` and `document`. */
export function createBrowserEnv() {
  const extras: NavigatorExtras = navigator;
  const secure = window.isSecureContext;
  const { mediaDevices: media, clipboard } = extras;
  // Looked up before any call: a browser forgets a tap meanwhile.
  const reported = {
    read: permissionStatus(extras.permissions, 'clipboard-read'),
    write: permissionStatus(extras.permissions, 'clipboard-write'),
  };
  const sharing: DisplayMediaStreamOptions & Record<string, unknown> = {
    video: { displaySurface: 'browser' },
    preferCurrentTab: true,
    selfBrowserSurface: 'include',
    surfaceSwitching: 'exclude',
  };
  return {
    ...createDeviceParts(secure),
    secureContext: secure,
    geolocation:
      secure && 'geolocation' in navigator
        ? {
            get: (options: PositionOptions) =>
              new Promise<GeolocationPosition>((resolve, reject) =>
                navigator.geolocation.getCurrentPosition(resolve, reject, options),
              ),
            /** Returns the function that ends it. */
            watch(
              options: PositionOptions,
              onPosition: PositionCallback,
              onError: PositionErrorCallback,
            ) {
              const id = navigator.geolocation.watchPosition(onPosition, onError, options);
              return () => navigator.geolocation.clearWatch(id);
            },
          }
        : null,
    camera:
      secure && media && 'getUserMedia' in media
        ? {
            open: ({ facing, width }: { facing: Facing; width?: number }) =>
              media.getUserMedia({
                // Browsers give a small picture when no size is asked for.
                video: {
                  facingMode: facing,
                  ...(width !== undefined && { width: { ideal: width } }),
                },
              }),
          }
        : null,
    display:
      secure && media && 'getDisplayMedia' in media
        ? {
            /** Inside a touch. */
            open: () => media.getDisplayMedia(sharing),
            // Each of the browsers that share tabs has a class for such a track; others share windows and screens alone.
            sharesTabs: 'BrowserCaptureMediaStreamTrack' in window,
          }
        : null,
    clipboard:
      secure && clipboard && 'readText' in clipboard
        ? {
            read: () => clipboard.readText(),
            write: (text: string) => clipboard.writeText(text),
            /** True where this browser lets a page use it in a click alone, and reports no permission for it. */
            needsTouch: (kind: 'read' | 'write') =>
              reported[kind].then((status) => status === undefined),
          }
        : null,
    notifications:
      secure && 'Notification' in window
        ? {
            permission: () => Notification.permission,
            /** Inside a touch. */
            ask: () => Notification.requestPermission(),
            show: createShowNotification(),
          }
        : null,
    page: {
      draw: drawPage,
      /** Undefined when nothing fits the selector. Throws a `SyntaxError` when it is none. */
      text: (selector: string | undefined) =>
        visibleText(document.querySelector<HTMLElement>(selector ?? 'body')),
      get title() {
        return document.title;
      },
      get url() {
        return location.href;
      },
    },
    takeFrame,
    device: () => describeDevice(extras),
    hasBattery: extras.getBattery !== undefined,
    battery: async (): Promise<Battery | null> => (await extras.getBattery?.()) ?? null,
    permission: (name: PermissionName) => queryPermission(extras, name),
    onStateChange: (names: readonly PermissionName[], listener: () => void) =>
      listenToState(extras, names, listener),
    visibility: () => document.visibilityState,
    onTouch: listenToTouches,
  };
}

/** Each tool uses a part of the browser. A part that is null is missing in this browser. */
export type BrowserEnv = ReturnType<typeof createBrowserEnv>;

/** A tool takes this of a browser that has it; `prompts` is how it asks the person. */
export type EnvOf<Part extends keyof BrowserEnv | 'prompts'> = {
  readonly [P in Part]: NonNullable<(BrowserEnv & { prompts: DevicePrompts })[P]>;
};

/** A permission that a browser does not report beforehand has to be asked for. */
async function queryPermission(
  { permissions }: NavigatorExtras,
  name: PermissionName,
): Promise<PermissionState> {
  return (await permissionStatus(permissions, name))?.state ?? 'prompt';
}

async function permissionStatus(
  permissions: Permissions | undefined,
  name: PermissionName,
): Promise<PermissionStatus | undefined> {
  try {
    return await permissions?.query({ name } as PermissionDescriptor);
  } catch {
    return undefined; // A browser rejects the names that it does not support, as Firefox does the clipboard's.
  }
}

/** Reports each change of visibility, permissions or battery. Returns the unsubscribe function. */
function listenToState(
  { permissions, getBattery }: NavigatorExtras,
  names: readonly PermissionName[],
  listener: () => void,
): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const listen = (target: EventTarget | undefined, event: string) =>
    target?.addEventListener(event, listener, { signal });
  listen(document, 'visibilitychange');
  for (const name of names) {
    void permissionStatus(permissions, name).then((status) => listen(status, 'change'));
  }
  void getBattery?.call(navigator).then((battery) => listen(battery, 'chargingchange'));
  return () => ended.abort();
}

/** Gives the text as it is laid out; undefined for anything but an HTML element. */
const visibleText = (element: HTMLElement | null): string | undefined => {
  if (!element) return undefined;
  // `textContent` would give scripts, styles and what is hidden too.
  const text: unknown = Reflect.get(element, 'innerText');
  return typeof text === 'string' ? text : undefined;
};

function describeDevice({ userAgentData, deviceMemory }: NavigatorExtras): Record<string, unknown> {
  const { width, height, availWidth, availHeight, colorDepth } = screen;
  return {
    user_agent: navigator.userAgent,
    ...(userAgentData && {
      platform: userAgentData.platform,
      mobile: userAgentData.mobile,
      brands: userAgentData.brands.map(({ brand, version }) => `${brand} ${version}`),
    }),
    screen: {
      width,
      height,
      avail_width: availWidth,
      avail_height: availHeight,
      color_depth: colorDepth,
    },
    viewport: { width: innerWidth, height: innerHeight },
    device_pixel_ratio: devicePixelRatio,
    language: navigator.language,
    languages: [...navigator.languages],
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    online: navigator.onLine,
    cpu_cores: navigator.hardwareConcurrency,
    ...(deviceMemory !== undefined && { memory_gib: deviceMemory }),
    touch_points: navigator.maxTouchPoints,
    dark_mode: matchMedia('(prefers-color-scheme: dark)').matches,
  };
}

interface Options {
  readonly body?: string;
}

/** These show notifications in a browser. */
interface NotificationParts {
  /** It is that of the service worker of this page, where there is one. */
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
