type Names = readonly (readonly [RegExp, string])[];

/** In the order in which they are looked for: most browsers name others as well. */
const BROWSERS: Names = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
  [/\bpython/i, 'Python'],
  [/\b(?:node|undici)\b/i, 'Node'],
  [/\bokhttp\b/i, 'an app'],
];

const SYSTEMS: Names = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
];

/** Only the beginning of a longer one is read. */
const MOST_CHARS = 512;

/** Names the program as people call it; undefined where it is not known. Any program can send any `User-Agent`. */
export function readUserAgent(text: string): {
  readonly browser: string | undefined;
  readonly system: string | undefined;
} {
  const read = text.slice(0, MOST_CHARS);
  const find = (names: Names) => names.find(([form]) => form.test(read))?.[1];
  return { browser: find(BROWSERS), system: find(SYSTEMS) };
}

/** `User-Agent` in a few words, such as `Chrome on Android`. Any program can send any of them. */
export function browserName(userAgent: string | undefined): string {
  const { browser, system } = readUserAgent(userAgent ?? '');
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'unknown';
}
