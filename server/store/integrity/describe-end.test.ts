import { expect, test } from 'vitest';
import { DataDirInUseError } from '../data-dir.ts';
import { StoreDamagedError, StoreFailedError } from '../store-errors.ts';
import { describeEnd } from './describe-end.ts';

const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });

test.each([
  [new StoreFailedError('no room'), 74, /^no room$/],
  [full, 74, /cannot be written \(database or disk is full\); make room/],
  [new DataDirInUseError('in use'), 75, /^in use$/],
  [
    new StoreDamagedError('a.db', 'byte 7'),
    78,
    /^the database a\.db is damaged: byte 7; start with --salvage/,
  ],
  [new SyntaxError('what'), 1, /^what$/],
])('[ST38] %s has its number and its line', (error, code, line) => {
  expect(describeEnd(error, [SyntaxError])).toEqual({ code, line: expect.stringMatching(line) });
});

test('[ST38] a defect has no line of its own', () => {
  expect(describeEnd(new TypeError('x'), [SyntaxError])).toEqual({ code: 1 });
  expect(describeEnd('x', [])).toEqual({ code: 1 });
});
