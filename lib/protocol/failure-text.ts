/** Gives what an executor reported of its failure as text. A failure without text is one all the same. */
export function failureText(error: unknown): string {
  if (typeof error === 'string') return error;
  return error === undefined || error === null ? '' : JSON.stringify(error);
}
