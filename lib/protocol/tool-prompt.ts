/** Stands in a Markdown template for the tools that a model is offered. */
export const TOOLS_PLACEHOLDER = '{{tools}}';
