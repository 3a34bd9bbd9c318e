/** The value of a JSON text; undefined, which is no JSON, for any other text. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TEXT_OR_NO_NUMBER = /"(?:[^"\\]+|\\.)*"?|-?\b(?:NaN|Infinity)\b/gs;
const CONTROLS = /\p{Cc}/gu;
const escaped = (controls: string): string => JSON.stringify(controls).slice(1, -1);

/** Also of what programs write that JSON does not have: NaN, and line breaks within texts. */
export function readLooseJson(text: string): unknown {
  const value = readJson(text);
  if (value !== undefined || !/^\s*[{[]/.test(text)) return value;
  return readJson(
    text.replace(TEXT_OR_NO_NUMBER, (one) =>
      one[0] === '"' ? one.replace(CONTROLS, escaped) : 'null',
    ),
  );
}
