import type { Recording } from '../device-parts.ts';

/** The first that a browser can write: Chromium and Firefox the first two, Safari the third. */
const SOUND_TYPES = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4', 'audio/webm'];
const SLICE_MS = 250;

/** Records a stream for that long; its level is reported meanwhile. */
export async function recordSound(
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
