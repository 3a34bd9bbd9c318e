/** What an executor said of its failure, as text. A failure without text is one all the same. */
export function failureText(said: unknown): string {
  if (typeof said === 'string') return said;
  return said === undefined || said === null ? '' : JSON.stringify(said);
}
