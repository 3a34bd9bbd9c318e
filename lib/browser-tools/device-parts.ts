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
