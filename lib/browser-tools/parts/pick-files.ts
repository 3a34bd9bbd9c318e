/** Opens the browser's window that picks files; inside a click. Null when it was closed. */
export function pickFiles(
  { accept, multiple }: { accept: string | undefined; multiple: boolean },
  signal: AbortSignal,
): Promise<readonly File[] | null> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = multiple;
  if (accept !== undefined) input.accept = accept;
  // In the document, and hidden: Safari forgets one that is not.
  input.hidden = true;
  document.body.append(input);
  return new Promise<readonly File[] | null>((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]));
    input.addEventListener('cancel', () => resolve(null));
    signal.addEventListener('abort', () => resolve(null), { once: true });
    input.click();
  }).finally(() => input.remove());
}
