/** In the order in which they are looked for: most browsers name others as well. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
  [/\bpython/i, 'Python'],
  [/\b(?:node|undici)\b/i, 'Node'],
  [/\bokhttp\b/i, 'an app'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** `User-Agent` in a few words, such as `Chrome on Android`. Any program can send any of them. */
export function browserName(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, 512);
  const found = (names: typeof BROWSERS) => names.find(([form]) => form.test(text))?.[1];
  const browser = found(BROWSERS);
  const system = found(SYSTEMS);
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'unknown';
}
