/** The server's tool by which a model ends its turn; no client may take its name. */
export const COMPLETION_TOOL = 'attempt_completion';
