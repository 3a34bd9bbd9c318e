import type { Picture } from './device-parts.ts';
import { MAX_SIDE, toPicture } from './parts/take-frame.ts';

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
  return toPicture(canvas, 'image/webp', 0.92);
}

/** It is drawn as the page shows it: a policy lets pages show pictures of their own making, and not fetch them. */
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

/** A part that a browser skips while it is out of view is never in view in a drawing, which has none. */
function showSkipped(cloned: Node): void {
  if (!(cloned instanceof HTMLElement)) return;
  if (cloned.style.contentVisibility === 'auto') cloned.style.contentVisibility = 'visible';
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

/**
 * The CSS properties that a picture of an element needs, by their physical longhands. Browsers
 * compute about 480 for each element; most are logical copies of these, or concern what does not
 * are static (animations, scrolling, pointers). Copying all of them takes three times as long.
 */
const DRAWN_PROPERTIES: readonly string[] = [
  ...sided('border', ['color', 'style', 'width']),
  ...sided('margin'),
  ...sided('padding'),
  ...['top-left', 'top-right', 'bottom-left', 'bottom-right'].map(
    (corner) => `border-${corner}-radius`,
  ),
  ...group('background', 'attachment blend-mode clip color image origin position repeat size'),
  ...group('border-image', 'outset repeat slice source width'),
  ...group('column', 'count fill gap rule-color rule-style rule-width span width'),
  ...group('flex', 'basis direction grow shrink wrap'),
  ...group(
    'font',
    'family feature-settings kerning size stretch style variant variation-settings weight',
  ),
  ...group('grid', 'auto-columns auto-flow auto-rows column-end column-start row-end row-start'),
  ...group('grid-template', 'areas columns rows'),
  ...group('list-style', 'image position type'),
  ...group('mask', 'clip composite image mode origin position repeat size'),
  ...group('outline', 'color offset style width'),
  ...group(
    'text',
    'align align-last anchor indent orientation overflow rendering shadow transform',
  ),
  ...group('text-decoration', 'color line style thickness'),
  ...group('text', 'underline-offset underline-position wrap-mode wrap-style'),
  ...group('transform', 'box origin style'),
  ...words(`
    accent-color align-content align-items align-self appearance aspect-ratio backdrop-filter
    backface-visibility border-collapse border-spacing bottom box-decoration-break box-shadow
    box-sizing caption-side clear clip clip-path clip-rule color color-scheme contain
    content-visibility direction display dominant-baseline empty-cells field-sizing fill
    fill-opacity fill-rule filter float height hyphens image-rendering isolation justify-content
    justify-items justify-self left letter-spacing line-break line-height max-height max-width
    min-height min-width mix-blend-mode object-fit object-position opacity order overflow-wrap
    overflow-x overflow-y paint-order perspective perspective-origin position right rotate row-gap
    scale stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap
    stroke-linejoin stroke-miterlimit stroke-opacity stroke-width tab-size table-layout top
    transform translate unicode-bidi vector-effect vertical-align visibility white-space-collapse
    width word-break word-spacing writing-mode z-index zoom -webkit-box-orient -webkit-line-clamp
    -webkit-text-fill-color -webkit-text-stroke-color -webkit-text-stroke-width
  `),
];

function sided(name: string, parts: readonly string[] = []): string[] {
  const sides = ['top', 'right', 'bottom', 'left'].map((side) => `${name}-${side}`);
  return parts.length === 0
    ? sides
    : sides.flatMap((side) => parts.map((part) => `${side}-${part}`));
}

function group(prefix: string, parts: string): string[] {
  return words(parts).map((part) => `${prefix}-${part}`);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
