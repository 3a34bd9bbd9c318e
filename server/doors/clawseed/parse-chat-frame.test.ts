import { expect, test } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import { parseChatFrame } from './parse-chat-frame.ts';
import recorded from './testing/recorded-frames.json' with { type: 'json' };

const parse = (frame: unknown) => parseChatFrame(JSON.stringify(frame));
const id = recorded.tool_result.id;

test('[CLS8] a result is one, also when it is no text', () => {
  const { output } = recorded.tool_result;
  const answer = (given: unknown) => ({ type: 'tool_result', id, output: given });
  expect(parse(recorded.tool_result)).toEqual({ type: 'client', message: answer(output) });
  for (const given of [{ model: 'Pixel 8' }, 17, [1], false])
    expect(parse({ ...recorded.tool_result, output: given })).toEqual({
      ...{ type: 'client', message: answer(given) },
    });
  const { output: _output, ...without } = recorded.tool_result;
  expect(parse(without)).toEqual({ type: 'client', message: answer('') });
});

test.each([
  [recorded.tool_error, 'Camera permission denied'],
  [recorded.tool_result_failed, 'Camera permission denied'],
  [recorded.tool_error_without_text, 'Unknown error'],
  [{ ...recorded.tool_result, success: false }, recorded.tool_result.output],
  [{ type: 'tool_result', id, success: false }, 'Unknown error'],
  [{ type: 'tool_error', id, error: '' }, 'Unknown error'],
  [{ type: 'tool_error', id, error: null, output: '' }, 'Unknown error'],
  [{ type: 'tool_error', id, error: { no: 1 } }, '{"no":1}'],
])('[CLS8] %j fails with %j', (frame, error) => {
  expect(parse(frame)).toEqual({ type: 'client', message: { type: 'tool_error', id, error } });
});

test.each([
  ['', 'INVALID_JSON'],
  ['{', 'INVALID_JSON'],
  ['[]', 'INVALID_JSON'],
  ['"abort"', 'INVALID_JSON'],
  ['null', 'INVALID_JSON'],
  ['{"type":"abort","__proto__":{}}', 'INVALID_JSON'],
  [`{"type":${'['.repeat(LIMITS.jsonDepth + 1)}`, 'INVALID_JSON'],
  ['{}', 'UNKNOWN_MESSAGE_TYPE'],
  ['{"type":7}', 'UNKNOWN_MESSAGE_TYPE'],
  ['{"type":"hello"}', 'UNKNOWN_MESSAGE_TYPE'],
  ['{"type":"constructor"}', 'UNKNOWN_MESSAGE_TYPE'],
  ['{"type":"message"}', 'EMPTY_CONTENT'],
  ['{"type":"message","content":" \\n"}', 'EMPTY_CONTENT'],
  ['{"type":"message","content":[]}', 'INVALID_MESSAGE'],
  ['{"type":"register_tools"}', 'INVALID_MESSAGE'],
  ['{"type":"register_tools","tools":{}}', 'INVALID_MESSAGE'],
  ['{"type":"tool_result","output":1}', 'INVALID_MESSAGE'],
  ['{"type":"tool_error","id":""}', 'INVALID_MESSAGE'],
])('[CLS4] %j is refused as %s', (text, code) => {
  expect(parseChatFrame(text)).toMatchObject({ type: 'refused', error: { type: 'error', code } });
});

test('[CLS8] an answer that is nested too deep still names its call, which it ends', () => {
  const deep = '['.repeat(LIMITS.jsonDepth + 1);
  expect(parseChatFrame(`{"type":"tool_result","id":"${id}","output":${deep}`)).toMatchObject({
    type: 'refused',
    error: { code: 'INVALID_JSON' },
    message: { type: 'unreadable_answer', id },
  });
});
