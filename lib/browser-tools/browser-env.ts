/** A battery as `navigator.getBattery` gives it; only Chromium has it. */
export interface Battery {
  readonly level: number;
  readonly charging: boolean;
}

/** One picture, taken off the screen or a camera. */
export interface Picture {
  readonly blob: Blob;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

export type PermissionName =
  | 'geolocation'
  | 'camera'
  | 'notifications'
  | 'clipboard-read'
  | 'clipboard-write';
export type PermissionState = 'granted' | 'prompt' | 'denied';

/** What of the browser each tool uses. A part that is null is missing in this browser. */
export interface BrowserEnv {
  readonly secureContext: boolean;
  readonly geolocation: {
    get(options: PositionOptions): Promise<GeolocationPosition>;
  } | null;
  readonly camera: {
    open(constraints: { facing: 'user' | 'environment' }): Promise<MediaStream>;
  } | null;
  readonly display: { open(): Promise<MediaStream> } | null;
  readonly clipboard: {
    read(): Promise<string>;
    write(text: string): Promise<void>;
  } | null;
  readonly notifications: {
    ask(): Promise<'granted' | 'denied' | 'default'>;
    show(title: string, body: string | undefined): void;
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
  takeFrame(stream: MediaStream, options: { maxWidth?: number; type: string }): Promise<Picture>;
  device(): Record<string, unknown>;
  battery(): Promise<Battery | null>;
  permission(name: PermissionName): Promise<PermissionState>;
  /** Reports each change of visibility, permissions or battery. Returns the unsubscribe function. */
  onStateChange(names: readonly PermissionName[], listener: () => void): () => void;
  visibility(): 'visible' | 'hidden';
  /** Reports each touch of a person: pointer, key, or the window getting the focus. Returns the unsubscribe function. */
  onTouch(listener: () => void): () => void;
}
