import type { Page } from '@playwright/test';
import decodeQR from 'qr/decode.js';
import sharp from 'sharp';

/** A phone's camera would read this from the workbench's picture. */
export async function readQr(page: Page): Promise<string> {
  const picture = sharp(await page.getByTestId('qr').screenshot()).ensureAlpha();
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return decodeQR({ width: info.width, height: info.height, data: new Uint8Array(data) });
}
