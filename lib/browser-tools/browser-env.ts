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

/** Every question to the person at this browser has these. */
export interface PersonPrompt {
  readonly callId: string;
  readonly tool: string;
  /** The tool's own words, in English; a page has words of its own for the tools of `browserTools`. */
  readonly message: string;
  /** Which of a page's own questions for this tool, where it has more than one. */
  readonly variant?: 'screens' | undefined;
  /** The thing it is about, in words of others: an address, a text to share. It is shown, never translated. */
  readonly detail?: string | undefined;
  /** Aborted when the call has ended meanwhile: the question is then to go away. */
  readonly signal: AbortSignal;
}

/** A picture of a question: one of the server's blobs, or its bytes. */
export type QuestionPicture = { readonly blobId: string } | { readonly dataUrl: string };

/** `display.show` shows this. All texts are words of others. */
export interface PersonQuestion extends PersonPrompt {
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly image: QuestionPicture | undefined;
  /** At most six, each chosen by a button of its own; none: there is only a way to close it. */
  readonly buttons: readonly string[];
  /** The person may write something, too. */
  readonly input: boolean;
}

/** The button that was chosen, or that the question was closed; and what was written. */
export type PersonAnswer =
  | { readonly button: number; readonly text: string }
  | { readonly button: null; readonly text: string }
  | 'closed';

/** How a tool asks the person at this browser; the page draws it. */
export interface DevicePrompts {
  /**
   * Resolves once the person has decided. `onAllow` is called inside the click that allows, for
   * what a browser permits nowhere else: the window that picks a file, contacts, sharing.
   */
  ask(request: PersonPrompt & { readonly onAllow?: () => void }): Promise<'allowed' | 'denied'>;
  /** A question with its answer. A page without it does not offer `display.show`. */
  show?(question: PersonQuestion): Promise<PersonAnswer>;
  /** True while the tap that has just allowed this very call is still being handled; a tap of before is no touch. */
  isInTap?(callId: string): boolean;
}
