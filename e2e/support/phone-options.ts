import { devices } from '@playwright/test';

const PHONES = { 'Pixel 8': devices['Pixel 7'], 'iPhone 15': devices['iPhone 15'] };

export type PhoneName = keyof typeof PHONES;
export const PHONE_NAMES = Object.keys(PHONES) as PhoneName[];

/** A phone: its screen, its touches and its name for itself. The engine stays Chromium's. */
export function phoneOptions(phone: PhoneName) {
  const { viewport, userAgent, isMobile, hasTouch, deviceScaleFactor } = PHONES[phone] ?? {};
  if (!viewport || !userAgent) throw new Error(`Playwright has no ${phone}`);
  return {
    viewport,
    userAgent,
    isMobile: isMobile ?? true,
    hasTouch: hasTouch ?? true,
    deviceScaleFactor: deviceScaleFactor ?? 2,
  };
}
