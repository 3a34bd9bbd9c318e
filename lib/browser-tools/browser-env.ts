import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import type { Picture } from './picture.ts';

/** A battery as `navigator.getBattery` gives it; only Chromium has it. */
export interface Battery {
  readonly level: number;
  readonly charging: boolean;
  /** Seconds; `Infinity` where the browser has none. */
  readonly chargingTime: number;
  readonly dischargingTime: number;
}

export type PermissionName =
  | 'geolocation'
  | 'camera'
  | 'microphone'
  | 'notifications'
  | 'clipboard-read'
  | 'clipboard-write';
export type PermissionState = 'granted' | 'prompt' | 'denied';

export type Facing = 'user' | 'environment';

export interface FrameOptions {
  readonly maxWidth?: number;
  readonly type: string;
  /** 0 to 1, for formats that lose detail. */
  readonly quality?: number;
  /** A camera's first frames are dark; a display gives a new one only when something changed. */
  readonly source: 'camera' | 'display';
}

/** What of the browser each tool uses. A part that is null is missing in this browser. */
export interface BrowserEnv extends DeviceParts {
  readonly secureContext: boolean;
  readonly geolocation: {
    get(options: PositionOptions): Promise<GeolocationPosition>;
    /** Returns the function that ends it. */
    watch(
      options: PositionOptions,
      onPosition: (position: GeolocationPosition) => void,
      onError: (error: GeolocationPositionError) => void,
    ): () => void;
  } | null;
  readonly camera: {
    open(constraints: { facing: Facing; width?: number }): Promise<MediaStream>;
  } | null;
  readonly display: {
    /** Inside a touch. */
    open(): Promise<MediaStream>;
    /** Whether a single tab can be shared; else windows and screens alone. */
    readonly sharesTabs: boolean;
  } | null;
  readonly clipboard: {
    read(): Promise<string>;
    write(text: string): Promise<void>;
    /** Whether this browser lets a page use it in a click alone, and reports no permission for it. */
    needsTouch(kind: 'read' | 'write'): Promise<boolean>;
  } | null;
  readonly notifications: {
    permission(): NotificationPermission;
    /** Inside a touch. */
    ask(): Promise<NotificationPermission>;
    show(title: string, body: string | undefined): Promise<void>;
  } | null;
  readonly page: {
    /** Draws the page from its elements; not what is on the screen, but close to it. */
    draw(options: { fullPage: boolean }): Promise<Picture>;
    /** Undefined when nothing fits the selector. Throws a `SyntaxError` when it is none. */
    text(selector: string | undefined): string | undefined;
    readonly title: string;
    readonly url: string;
  };
  /** One frame of a live stream, at most `maxWidth` wide. */
  takeFrame(stream: MediaStream, options: FrameOptions): Promise<Picture>;
  device(): Record<string, unknown>;
  /** Whether this browser reports a battery at all. */
  readonly hasBattery: boolean;
  battery(): Promise<Battery | null>;
  permission(name: PermissionName): Promise<PermissionState>;
  /** Reports each change of visibility, permissions or battery. Returns the unsubscribe function. */
  onStateChange(names: readonly PermissionName[], listener: () => void): () => void;
  visibility(): 'visible' | 'hidden';
  /** Reports each touch of a person: pointer, key, or the window getting the focus. Returns the unsubscribe function. */
  onTouch(listener: () => void): () => void;
}

/** What a tool takes of a browser that has it; `prompts` is how it asks the person. */
export type EnvOf<Part extends keyof BrowserEnv | 'prompts'> = {
  readonly [P in Part]: NonNullable<(BrowserEnv & { prompts: DevicePrompts })[P]>;
};
