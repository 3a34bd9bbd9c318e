import { describe, expect, test } from 'vitest';
import { parseClientFrame } from './parse-client-frame.ts';

const deep = `${'['.repeat(70)}${']'.repeat(70)}`;

describe('an answer that cannot be read', () => {
  test.each([
    ['no output', '{"type":"tool_result","id":"tc_1"}'],
    ['an attempt of zero', '{"type":"tool_result","id":"tc_1","output":1,"attempt":0}'],
    ['a success that is none', '{"type":"tool_result","id":"tc_1","output":1,"success":"yes"}'],
    ['fields in another order', '{"attempt":"x","id":"tc_1","output":1,"type":"tool_result"}'],
    ['an output that is too deep', `{"type":"tool_result","id":"tc_1","output":${deep}}`],
    ['spaces', `  { "type" : "tool_error" , "id" : "tc_1" , "error" : ${deep} }`],
    ['an end that is cut off', '{"type":"tool_result","id":"tc_1","output":'],
  ])('[FR1] tells which call it was for: %s', (_name, text) => {
    expect(parseClientFrame(text)).toMatchObject({ ok: false, id: 'tc_1', answerTo: 'tc_1' });
  });

  test.each([
    ['an id that is no text', '{"type":"tool_result","id":7,"output":1}'],
    ['an empty id', `{"type":"tool_result","id":"","output":${deep}}`],
    ['an id of another thing', `{"type":"tool_result","output":{"id":"tc_9","x":${deep}}}`],
    ['no answer', '{"type":"tool_status","id":"tc_1","tip":5}'],
    ['a claim', '{"type":"tool_call_claim","id":"tc_1"}'],
  ])('[FR1] tells none where it cannot be known: %s', (_name, text) => {
    const parsed = parseClientFrame(text);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? '' : (parsed.answerTo ?? '')).toBe('');
  });
});

describe('an answer that cannot be used and says which attempt it is of', () => {
  test.each([
    ['no output', '{"type":"tool_result","id":"tc_1","attempt":2}'],
    ['too deep', `{"type":"tool_result","id":"tc_1","attempt":2,"success":true,"output":${deep}}`],
  ])('[FR2] ends that attempt: %s', (_name, text) => {
    const parsed = parseClientFrame(text);
    expect(parsed.ok ? undefined : parsed.answer).toMatchObject({ id: 'tc_1', attempt: 2 });
  });

  test('[FR2] ends the call of a client that names no attempts', () => {
    const parsed = parseClientFrame('{"type":"tool_result","id":"tc_1"}');
    expect(parsed.ok ? undefined : parsed.answer).toMatchObject({ id: 'tc_1', attempt: undefined });
  });

  test.each(['0', '1.5', '"1"', 'null', '-1'])(
    '[FR2] ends nothing under the attempt %s, which cannot be',
    (attempt) => {
      const text = `{"type":"tool_result","id":"tc_1","output":1,"attempt":${attempt}}`;
      expect(parseClientFrame(text)).toMatchObject({ ok: false, answer: undefined });
      const tooDeep = `{"type":"tool_result","id":"tc_1","attempt":${attempt},"output":${deep}}`;
      expect(parseClientFrame(tooDeep)).toMatchObject({ ok: false, answer: undefined });
    },
  );
});

describe('a failure', () => {
  test.each([
    ['success: false', { type: 'tool_result', output: 'dry', success: false }, 'dry'],
    [
      'of an output that is no text',
      { type: 'tool_result', output: { a: [1] }, success: false },
      '{"a":[1]}',
    ],
    ['of no output', { type: 'tool_result', success: false }, ''],
    ['with attachments', { type: 'tool_result', output: 'x', success: false, attachments: 5 }, 'x'],
    ['without text', { type: 'tool_error' }, ''],
    ['of null', { type: 'tool_error', error: null }, ''],
    ['of an object', { type: 'tool_error', error: { why: 'dry' } }, '{"why":"dry"}'],
    ['with a code that is none', { type: 'tool_error', error: 'dry', code: 7 }, 'dry'],
    ['that says success', { type: 'tool_error', error: 'dry', success: true }, 'dry'],
  ])('[FR3] is one however it is spelt: %s', (_name, message, error) => {
    expect(parseClientFrame(JSON.stringify({ ...message, id: 'tc_1', attempt: 2 }))).toEqual({
      ok: true,
      message: { type: 'tool_error', id: 'tc_1', attempt: 2, error },
    });
  });

  test('[FR3] keeps its code', () => {
    const text = '{"type":"tool_result","id":"tc_1","output":"x","success":false,"code":"locked"}';
    expect(parseClientFrame(text)).toMatchObject({ message: { code: 'locked' } });
  });
});

test('[FR4] a result has its NUL as the tool gave it; nothing else of a frame has one', () => {
  const result = { type: 'tool_result', id: 'tc_1', output: 'a\0b', success: true };
  expect(parseClientFrame(JSON.stringify(result))).toMatchObject({ message: result });
  const status = { type: 'tool_status', id: 'tc_1', tip: 'a\0b' };
  expect(parseClientFrame(JSON.stringify(status))).toMatchObject({ message: { tip: 'a\ufffdb' } });
});

test('[FR5] a message that takes more tools back than one may offer is refused', () => {
  const names = Array.from({ length: 1_025 }, (_, at) => `t_${at}`);
  expect(parseClientFrame(JSON.stringify({ type: 'unregister_tools', names }))).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^names: .*1024/),
  });
});

test('a state for very many tools is refused before one of them is looked at', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 1]);
  const state = { type: 'client_state', permissions: Object.fromEntries(many) };
  expect(parseClientFrame(JSON.stringify(state))).toMatchObject({
    ok: false,
    message: 'A client_state takes at most 65536 bytes; send large data with the result',
  });
});
