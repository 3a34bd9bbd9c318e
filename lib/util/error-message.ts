/** The words of whatever was thrown; never empty. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  const text = typeof error === 'string' ? error : String(error);
  return text === '' ? 'an empty error' : text;
}
