import type { Page } from '@playwright/test';

/**
 * Elements that reach out of the screen, but for those in something narrow that
 * is meant to scroll sideways: it takes the focus, so that arrow keys reach it.
 */
export const outside = (page: Page) =>
  page.evaluate(() => {
    const isKept = (element: Element): boolean => {
      const parent = element.parentElement;
      if (!parent || parent === document.body) return false;
      const isNarrow = parent.getBoundingClientRect().right <= innerWidth;
      const { overflowX } = getComputedStyle(parent);
      const scrolls = overflowX === 'auto' || overflowX === 'scroll';
      if (scrolls && !parent.matches('[tabindex="0"]:not([role="log"]), textarea')) return false;
      return (overflowX !== 'visible' && isNarrow) || isKept(parent);
    };
    const tooWide = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
    const elements = [...document.body.querySelectorAll('*')].filter((element) => {
      const { right, left, width } = element.getBoundingClientRect();
      return width > 1 && (right > innerWidth + 1 || left < -1) && !isKept(element);
    });
    return [...tooWide, ...elements.map((element) => element.outerHTML.slice(0, 120))];
  });
