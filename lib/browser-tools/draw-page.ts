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
    // For pictures and fonts of the page, in milliseconds; what is slower is left out.
    timeout: 5_000,
  });
  return toPicture(canvas, 'image/webp');
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
