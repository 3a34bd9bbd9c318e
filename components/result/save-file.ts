/** Has the browser save bytes as a file. */
export function saveFile(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click; a minute is ample, and then the memory is free again.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
