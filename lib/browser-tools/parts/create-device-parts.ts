import type { ChosenContact, CodeReader, Recording, SharedContent } from '../device-parts.ts';
import { createSensors } from './create-sensors.ts';
import { createListening, createVoice } from './create-speech.ts';
import { playStream, rewritePicture } from './take-frame.ts';

interface ContactsManager {
  getProperties(): Promise<readonly string[]>;
  select(
    properties: readonly string[],
    options: { multiple: boolean },
  ): Promise<readonly ChosenContact[]>;
}

interface NetworkInformation {
  readonly type?: string;
  readonly effectiveType?: string;
  readonly downlink?: number;
  readonly rtt?: number;
  readonly saveData?: boolean;
}

/** Some browsers have these beyond TypeScript's types. */
interface NavigatorParts {
  readonly contacts?: ContactsManager;
  readonly connection?: NetworkInformation;
  readonly share?: (data: ShareData) => Promise<void>;
  readonly canShare?: (data: ShareData) => boolean;
  readonly vibrate?: (pattern: number[]) => boolean;
  readonly mediaDevices?: MediaDevices;
}

/** The parts of the real browser that mostly phones have. One that is null is missing in this browser. */
export function createDeviceParts(secure: boolean) {
  const parts: NavigatorParts = navigator;
  const { contacts, mediaDevices: media } = parts;
  // Looked up before any call: a browser forgets a tap meanwhile.
  const properties =
    contacts?.getProperties().catch((): string[] => []) ?? Promise.resolve<readonly string[]>([]);
  const hasMedia = secure && media !== undefined && 'getUserMedia' in media;
  return {
    microphone:
      hasMedia && 'MediaRecorder' in window
        ? { open: () => media.getUserMedia({ audio: true }), record: recordSound }
        : null,
    codes: hasMedia ? { open: openCodeReader } : null,
    sensors: secure ? createSensors() : null,
    contacts:
      secure && contacts && 'select' in contacts
        ? {
            properties: () => properties,
            /** Inside a click. */
            select: (...chosen: Parameters<ContactsManager['select']>) =>
              contacts.select(...chosen),
          }
        : null,
    voice: createVoice(),
    listening: secure ? createListening() : null,
    share:
      secure && parts.share
        ? {
            canShare: (content: SharedContent) => navigator.canShare?.(content) ?? true,
            /** Inside a click. */
            send: (content: SharedContent) => navigator.share(content),
          }
        : null,
    files: { pick: pickFiles, rewritePicture },
    vibration: parts.vibrate
      ? {
          /** False when the browser did not start it, e.g. before a person has touched the page. */
          start: (pattern: readonly number[]) => navigator.vibrate([...pattern]),
        }
      : null,
    network: { read: () => describeNetwork(parts) },
    windows: { open: openWindow },
  };
}

function describeNetwork({ connection }: NavigatorParts): Record<string, unknown> {
  const { type, effectiveType, downlink, rtt, saveData } = connection ?? {};
  return {
    online: navigator.onLine,
    ...(type !== undefined && { type }),
    ...(effectiveType !== undefined && { effective_type: effectiveType }),
    ...(downlink !== undefined && { downlink_mbps: downlink }),
    ...(rtt !== undefined && { rtt_ms: rtt }),
    ...(saveData !== undefined && { save_data: saveData }),
  };
}

/**
 * Opens an address in a window of its own, inside a click; whether the browser did. With `noopener`
 * it would not report that, so an empty window is opened, separated from this page, and sent there.
 */
function openWindow(url: string): boolean {
  const opened = window.open('', '_blank');
  if (!opened) return false;
  opened.opener = null;
  opened.location.replace(url);
  return true;
}

/** Opens the browser's window that picks files; inside a click. Null when it was closed. */
function pickFiles(
  { accept, multiple }: { accept: string | undefined; multiple: boolean },
  signal: AbortSignal,
): Promise<readonly File[] | null> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = multiple;
  if (accept !== undefined) input.accept = accept;
  // In the document, and hidden: Safari forgets one that is not.
  input.hidden = true;
  document.body.append(input);
  return new Promise<readonly File[] | null>((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]));
    input.addEventListener('cancel', () => resolve(null));
    signal.addEventListener('abort', () => resolve(null), { once: true });
    input.click();
  }).finally(() => input.remove());
}

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
async function openCodeReader(stream: MediaStream): Promise<CodeReader> {
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

/** The first that a browser can write: Chromium and Firefox the first two, Safari the third. */
const SOUND_TYPES = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4', 'audio/webm'];
const SLICE_MS = 250;

/** Records a stream for that long, or up to an abort, which is thrown; its level is reported meanwhile. */
async function recordSound(
  stream: MediaStream,
  options: { ms: number; signal: AbortSignal; onLevel: (level: number) => void },
): Promise<Recording> {
  const { ms, signal, onLevel } = options;
  const type = SOUND_TYPES.find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => void parts.push(data);
  const meter = createMeter(stream);
  const ended = new Promise<void>((resolve, reject) => {
    recorder.onstop = () => resolve();
    recorder.onerror = () => reject(new Error('the browser stopped the recording'));
  });
  const start = performance.now();
  recorder.start(SLICE_MS);
  const stop = () => recorder.state !== 'inactive' && recorder.stop();
  const timer = setTimeout(stop, ms);
  const watch = setInterval(() => meter && onLevel(meter.read()), SLICE_MS);
  signal.addEventListener('abort', stop, { once: true });
  let peak: number | null = null;
  try {
    await ended;
    signal.throwIfAborted();
    peak = meter?.peak() ?? null;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', stop);
    await meter?.close();
  }
  const [mediaType = 'audio/webm'] = recorder.mimeType.split(';');
  return {
    blob: new Blob(parts, { type: mediaType }),
    mediaType,
    durationMs: Math.round(performance.now() - start),
    peak,
  };
}

/** How loud a stream is; null where a page has no sound context. */
function createMeter(stream: MediaStream) {
  if (!('AudioContext' in window)) return null;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 16_384;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let peak = 0;
  return {
    read() {
      analyser.getFloatTimeDomainData(samples);
      const level = samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
      peak = Math.max(peak, level);
      return level;
    },
    /** Null when the browser let it measure nothing, as before a touch of the page. */
    peak: () => (context.state === 'running' ? peak : null),
    close: () => context.close(),
  };
}
