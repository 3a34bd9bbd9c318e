/** One picture, taken off the screen or a camera. */
export interface Picture {
  readonly blob: Blob;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

/** A sound that was recorded. */
export interface Recording {
  readonly blob: Blob;
  readonly mediaType: string;
  readonly durationMs: number;
  /** The loudest moment, 0 to 1; null where the browser cannot measure it. */
  readonly peak: number | null;
}

/** A code that was read from a picture. */
export interface ReadCode {
  readonly text: string;
  readonly format: string;
}

export interface CodeReader {
  readonly reader: 'BarcodeDetector' | 'qr';
  readonly formats: readonly string[];
  /** Reads what is in the frame that the stream shows now. */
  read(): Promise<readonly ReadCode[]>;
  close(): void;
}

export const SENSORS = ['motion', 'orientation', 'magnetometer', 'light'] as const;
export type SensorName = (typeof SENSORS)[number];

/** One reading; numbers by name, those that the device does not measure left out. */
export type Reading = Readonly<Record<string, number | boolean>>;

export interface ChosenContact {
  readonly name?: readonly string[];
  readonly email?: readonly string[];
  readonly tel?: readonly string[];
  readonly address?: readonly unknown[];
}

export interface SpokenText {
  readonly text: string;
  readonly language: string | undefined;
  readonly rate: number;
}

export interface RecognizedText {
  readonly text: string;
  readonly confidence: number;
}

export interface SharedContent {
  readonly title?: string;
  readonly text?: string;
  readonly url?: string;
}

/** The parts of a browser that mostly phones have. One that is null is missing in this browser. */
export interface DeviceParts {
  readonly microphone: {
    open(): Promise<MediaStream>;
    /** Ends early, with the signal's reason, when the signal aborts. */
    record(
      stream: MediaStream,
      options: { ms: number; signal: AbortSignal; onLevel: (level: number) => void },
    ): Promise<Recording>;
  } | null;
  readonly codes: {
    open(stream: MediaStream): Promise<CodeReader>;
  } | null;
  readonly sensors: {
    /** This browser has their interface; the device may lack them all the same. */
    readonly names: readonly SensorName[];
    /** True where the person has to be asked, which a browser does inside a click. */
    needsTouch(name: SensorName): Promise<boolean>;
    /** Inside a click. */
    ask(name: SensorName): Promise<'granted' | 'denied'>;
    /** Returns the function that ends it. */
    watch(
      name: SensorName,
      onReading: (reading: Reading) => void,
      onError: (reason: Error) => void,
    ): () => void;
  } | null;
  readonly contacts: {
    properties(): Promise<readonly string[]>;
    /** Inside a click. */
    select(
      properties: readonly string[],
      options: { multiple: boolean },
    ): Promise<readonly ChosenContact[]>;
  } | null;
  readonly voice: {
    /** Resolves when it has been spoken, with the voice's name where it has one. */
    speak(spoken: SpokenText, signal: AbortSignal): Promise<{ voice: string | undefined }>;
  } | null;
  readonly listening: {
    /** Resolves with what was recognized until the person stopped speaking. */
    listen(
      options: { language: string | undefined; onPart: (text: string) => void },
      signal: AbortSignal,
    ): Promise<RecognizedText>;
  } | null;
  readonly share: {
    canShare(content: SharedContent): boolean;
    /** Inside a click. */
    send(content: SharedContent): Promise<void>;
  } | null;
  readonly files: {
    /** Inside a click; null when the person closed the window without choosing. */
    pick(
      options: { accept: string | undefined; multiple: boolean },
      signal: AbortSignal,
    ): Promise<readonly File[] | null>;
    /** The picture written anew: none of its metadata is in it. Throws when it cannot be read. */
    rewritePicture(file: Blob, options: { maxWidth: number }): Promise<Picture>;
  };
  readonly vibration: {
    /** False when the browser did not start it, e.g. before a person has touched the page. */
    start(pattern: readonly number[]): boolean;
  } | null;
  readonly network: { read(): Record<string, unknown> };
  readonly windows: {
    /** Inside a click; whether a window was opened. It cannot reach this page. */
    open(url: string): boolean;
  };
}
