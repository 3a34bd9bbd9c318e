const BROWSERS = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;

const SYSTEMS = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'Mac'],
  [/Windows/, 'Windows'],
  [/Linux/, 'Linux'],
] as const;

/** A name to begin with, e.g. `Chrome on Android`, or the model where the browser names it. */
export function deviceName(userAgent: string): string {
  const find = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(userAgent))?.[1];
  // Browsers that hide the model write `K` in its place.
  const model = /Android [\d.]+; ([^;)]{2,40}?)(?: Build\/[^)]*)?\)/.exec(userAgent)?.[1];
  const system = model ?? find(SYSTEMS);
  const browser = find(BROWSERS) ?? 'Browser';
  return system === undefined ? browser : `${browser} on ${system}`;
}
