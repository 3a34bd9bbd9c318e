import { ToolFailure } from '../../client/client-tool.ts';

/** The longest wait for the first frame: a camera may take seconds to start. */
const FIRST_FRAME_MS = 10_000;
/** The longest wait for one more frame: a shared page that does not change gives none. */
const FRAME_MS = 500;

export interface PlayedStream {
  readonly video: HTMLVideoElement;
  /** Resolves with the next frame, or after a moment without one. */
  nextFrame(): Promise<void>;
  close(): void;
}

/** Shows a stream in a video element, which every browser has. */
export async function playStream(stream: MediaStream): Promise<PlayedStream> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  // Out of sight, but in the document: elsewhere some browsers give no frames.
  video.style.cssText = 'position:fixed;left:-10000px;width:1px;height:1px';
  document.body.append(video);
  const close = () => {
    video.srcObject = null;
    video.remove();
  };
  try {
    await inTime(video.play());
  } catch (error) {
    close();
    throw error;
  }
  return { video, nextFrame: () => waitForFrame(video), close };
}

export const noFrame = (): ToolFailure =>
  new ToolFailure(
    'unavailable',
    'The browser gave no frame: the source may be hidden, switched off or in use elsewhere.',
  );

/** A browser waits for a first frame without end. */
export function inTime<T>(frame: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(noFrame()), FIRST_FRAME_MS);
    frame.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function waitForFrame(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_MS);
    if (!('requestVideoFrameCallback' in video)) return;
    video.requestVideoFrameCallback(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
