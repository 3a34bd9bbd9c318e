import { describe, expect, test } from 'vitest';
import { parseClientFrame } from './parse-client-frame.ts';

const deep = `${'['.repeat(70)}${']'.repeat(70)}`;

describe('an answer that cannot be read', () => {
  test.each([
    ['no output', '{"type":"tool_result","id":"tc_1"}'],
    ['an attempt of zero', '{"type":"tool_result","id":"tc_1","output":1,"attempt":0}'],
    ['an error that is no text', '{"type":"tool_error","id":"tc_1","error":5}'],
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
