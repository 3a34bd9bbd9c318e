import { DRAWN_PROPERTIES } from './drawn-properties.ts';
import type { Picture } from './picture.ts';

/** Longer pages than this give canvases that browsers refuse. */
const MAX_SIDE = 8_192;

/** Draws the page from its elements, or the part of it that is in view. */
export async function drawPage({ fullPage }: { fullPage: boolean }): Promise<Picture> {
  // Loaded when it is first needed: most pages never take a screenshot.
  const { domToCanvas } = await import('modern-screenshot');
  const root = document.documentElement;
  const width = Math.min(root.clientWidth, MAX_SIDE);
  const height = Math.min(fullPage ? root.scrollHeight : root.clientHeight, MAX_SIDE);
  const { scrollX, scrollY } = window;
  const moved = !fullPage && (scrollX !== 0 || scrollY !== 0);
  const scrolled = moved ? `translate(${-scrollX}px, ${-scrollY}px)` : null;
  const canvas = await domToCanvas(root, {
    width,
    height,
    scale: Math.min(devicePixelRatio, 2),
    backgroundColor: background(),
    includeStyleProperties: [...DRAWN_PROPERTIES],
    // A root element keeps its children's margins inside; a copy of one has to be set to. It is
    // drawn from its top, so what is in view is moved there (but fixed elements move as well).
    style: {
      display: 'flow-root',
      ...(scrolled && { transform: scrolled, transformOrigin: '0 0' }),
    },
    fetchFn: async (url) => url.startsWith('blob:') && drawnPicture(url),
    onCloneEachNode: showSkipped,
    // For pictures and fonts of the page, in milliseconds; what is slower is left out.
    timeout: 5_000,
  });
  return toPicture(canvas, 'image/webp');
}

/** As the page shows it: a policy lets pages show pictures of their own making, and not fetch them. */
function drawnPicture(url: string): string | false {
  const image = [...document.images].find(({ currentSrc }) => currentSrc === url);
  if (!image?.complete || image.naturalWidth === 0) return false;
  const { naturalWidth, naturalHeight, clientWidth, clientHeight } = image;
  // Twice as fine as it is shown: writing all of a photo would keep the page from its work.
  const wanted = 2 * Math.max(clientWidth / naturalWidth, clientHeight / naturalHeight);
  const scale = Math.min(1, wanted || 1);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(naturalWidth * scale));
  canvas.height = Math.max(1, Math.round(naturalHeight * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/webp', 0.92);
}

/** What a browser skips while it is out of view is never in view in a drawing, which has none. */
function showSkipped(cloned: Node): void {
  if (!(cloned instanceof HTMLElement)) return;
  if (cloned.style.contentVisibility === 'auto') cloned.style.contentVisibility = 'visible';
}

async function toPicture(canvas: HTMLCanvasElement, type: string): Promise<Picture> {
  const { width, height } = canvas;
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.92));
  if (!blob) throw new Error(`a canvas of ${width} × ${height} gives no ${type}`);
  // A browser that cannot write the wanted type gives PNG, with its type.
  return { blob, mediaType: blob.type, width, height };
}

/** A transparent page shows the browser's own white or dark. */
function background(): string {
  for (const element of [document.body, document.documentElement]) {
    const { backgroundColor } = getComputedStyle(element);
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
  }
  return getComputedStyle(document.documentElement).colorScheme.includes('dark')
    ? '#121212'
    : '#ffffff';
}
