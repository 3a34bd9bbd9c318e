import type { Locale } from './locales.ts';

/** The first that have `light-dark()` and `AbortSignal.any`, without which no page of ours works. */
export const OLDEST_BROWSERS = 'Chrome 123, Edge 123, Firefox 124, Safari 17.5';

const TEXTS: Readonly<Record<Locale, string>> = {
  en: `This browser is too old for this page. The oldest that work: ${OLDEST_BROWSERS} (iOS and iPadOS 17.5). Update the browser, or open the page in another one.`,
  zh: `此浏览器版本过旧，无法使用此页面。可用的最低版本：${OLDEST_BROWSERS}（iOS 和 iPadOS 17.5）。请更新浏览器，或用其他浏览器打开此页面。`,
};

/**
 * A script that puts a text in place of a page that would break, for the start of its body. Its words
 * are old ones, which each engine reads, and none of its characters is one that HTML escapes.
 */
export const oldBrowserCheck = (locale: Locale): string =>
  `(function () {
  try {
    if (CSS.supports(\`color\`, \`light-dark(red, red)\`)) if (AbortSignal.any) return;
  } catch (error) {}
  window.stop();
  document.body.style.cssText = \`margin: 2em; font: 18px sans-serif; color: black; background: white\`;
  document.body.textContent = \`${TEXTS[locale]}\`;
})();`;
