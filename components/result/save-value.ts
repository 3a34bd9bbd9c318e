import { saveFile } from './save-file.ts';

/** Saves a value as a file: text as it is, anything else as JSON. Throws when it cannot be written. */
export function saveValue(value: unknown, name: string): void {
  const isText = typeof value === 'string';
  const text = isText ? value : JSON.stringify(value, null, 2);
  const bytes = new Blob([text], { type: isText ? 'text/plain' : 'application/json' });
  saveFile(bytes, `${name || 'result'}.${isText ? 'txt' : 'json'}`);
}
