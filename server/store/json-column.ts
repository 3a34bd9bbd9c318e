/** The one place that trusts what a column holds: it was written as JSON. */
export const fromJsonColumn = <T>(text: string): T => JSON.parse(text) as T;
