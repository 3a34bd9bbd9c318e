/** Saves a value as a file: text as it is, anything else as JSON. Throws when it cannot be written. */
export function saveValue(value: unknown, name: string): void {
  const isText = typeof value === 'string';
  const text = isText ? value : JSON.stringify(value, null, 2);
  const url = URL.createObjectURL(
    new Blob([text], { type: isText ? 'text/plain' : 'application/json' }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name || 'result'}.${isText ? 'txt' : 'json'}`;
  link.click();
  // The browser reads it after the click; a minute is ample, and then the memory is free again.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
