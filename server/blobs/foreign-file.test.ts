import sharp from 'sharp';
import { expect, test } from 'vitest';
import { readForeignFile } from './foreign-file.ts';

const png = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#369' } })
  .png()
  .toBuffer();
const PNG = png.toString('base64');

test.each([
  ['as it should be', PNG, 'image/png'],
  ['as a data: URI', `data:image/png;base64,${PNG}`, 'image/png'],
  ['as a data: URI of another type', `data:image/jpeg;base64,${PNG}`, undefined],
  ['in lines', PNG.replace(/(.{40})/g, '$1\r\n'), 'image/png'],
  ['without padding', PNG.replace(/=+$/, ''), 'image/png'],
  ['with the letters of URLs', png.toString('base64url'), 'image/png'],
  ['named JPEG', PNG, 'image/jpeg'],
  ['named a text', PNG, 'text/plain'],
  ['named nothing', PNG, ''],
])('[BL17] a PNG %s is one', (_, data, mediaType) => {
  const file = readForeignFile({ data, mediaType });
  expect(file?.mediaType).toBe('image/png');
  expect(png.equals(file?.bytes ?? new Uint8Array())).toBe(true);
});

test.each([
  ['no letters of it', 'no base64 !!'],
  ['padding in its middle', 'QUFB=QUFB'],
])('[BL17] what is no base64 is no file: %s', (_, data) => {
  expect(readForeignFile({ data, mediaType: 'image/png' })).toBeUndefined();
});

const latin1 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

test.each([
  ['text/plain', latin1('caf\xe9'), 'text/plain', 'café'],
  ['text/plain; charset=shift_jis', latin1('\x83\x65'), 'text/plain', 'テ'],
  ['text/csv', latin1('\xff\xfea\0;\0b\0'), 'text/csv', 'a;b'],
  ['application/json', latin1('no json'), 'text/plain', 'no json'],
  ['application/vnd.ms-excel', latin1('a;b'), 'application/vnd.ms-excel', 'a;b'],
  ['', 'data:text/plain,a%20b', 'text/plain', 'a b'],
  ['text/markdown', '# It is, itself, a text!', 'text/markdown', '# It is, itself, a text!'],
  ['image/png', latin1('<html>Not found</html>'), 'text/plain', '<html>Not found</html>'],
  ['image/png', latin1('<svg xmlns="a"/>'), 'image/svg+xml', '<svg xmlns="a"/>'],
])('[BL17] a text named %j is text in UTF-8', (mediaType, data, type, text) => {
  const file = readForeignFile({ data, mediaType });
  expect([file?.mediaType, Buffer.from(file?.bytes ?? []).toString()]).toEqual([type, text]);
});

test('[BL17] half a picture is a file of no type', () => {
  const data = png.subarray(0, 12).toString('base64');
  expect(readForeignFile({ data, mediaType: 'image/png' })?.mediaType).toBe(
    'application/octet-stream',
  );
});
