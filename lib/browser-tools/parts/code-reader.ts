import type { CodeReader } from '../device-parts.ts';
import { playStream } from './play-stream.ts';

interface Detector {
  detect(source: CanvasImageSource): Promise<readonly { rawValue: string; format: string }[]>;
}

interface DetectorClass {
  new (): Detector;
  getSupportedFormats(): Promise<readonly string[]>;
}

/** Larger frames take a slow phone too long. */
const MAX_SIDE = 1_280;

/** Reads codes from a stream: by the browser's own detector, else QR codes by a library. */
export async function openCodeReader(stream: MediaStream): Promise<CodeReader> {
  const own = await ownDetector();
  // Before the stream is played: what cannot be loaded leaves nothing in the page.
  const detect = own ? own.detect : await libraryDetector();
  const { video, nextFrame, close } = await playStream(stream);
  return {
    reader: own ? 'BarcodeDetector' : 'qr',
    formats: own?.formats ?? ['qr_code'],
    async read() {
      await nextFrame();
      return detect(video);
    },
    close,
  };
}

type Detect = (video: HTMLVideoElement) => Promise<{ text: string; format: string }[]>;

async function ownDetector(): Promise<{ formats: readonly string[]; detect: Detect } | null> {
  const { BarcodeDetector } = window as unknown as { BarcodeDetector?: DetectorClass };
  const formats = (await BarcodeDetector?.getSupportedFormats()) ?? [];
  // Some systems have the interface, and nothing behind it.
  if (!BarcodeDetector || formats.length === 0) return null;
  const detector = new BarcodeDetector();
  const detect: Detect = async (video) =>
    (await detector.detect(video)).map(({ rawValue, format }) => ({ text: rawValue, format }));
  return { formats, detect };
}

async function libraryDetector(): Promise<Detect> {
  // Loaded when it is first needed: most pages never scan a code.
  const { default: decode } = await import('qr/decode.js');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, MAX_SIDE / Math.max(video.videoWidth, video.videoHeight));
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    if (!context || canvas.width === 0) return [];
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
    try {
      return [{ text: decode({ data, width, height }), format: 'qr_code' }];
    } catch {
      return []; // It throws when there is no code in the picture.
    }
  };
}
