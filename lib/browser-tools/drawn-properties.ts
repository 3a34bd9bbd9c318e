/**
 * The CSS properties that a picture of an element needs, by their physical longhands. Browsers
 * compute about 480 for each element; most are logical copies of these, or concern what does not
 * are static (animations, scrolling, pointers). Copying all of them takes three times as long.
 */
export const DRAWN_PROPERTIES: readonly string[] = [
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
