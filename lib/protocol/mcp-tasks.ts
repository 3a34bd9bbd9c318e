/** The extension of MCP 2026-07-28 by which a call is a task (SEP-2663). */
export const TASKS = 'io.modelcontextprotocol/tasks';
