import type { ToolListing } from '#lib/protocol/tool-spec';

export const TOOL_FILTERS = ['all', 'server', 'client', 'other', 'callable'] as const;
export type ToolFilter = (typeof TOOL_FILTERS)[number];

/** The tools that pass the filter and contain every word of the search, by name. */
export function filterTools(
  tools: readonly ToolListing[],
  filter: ToolFilter,
  search: string,
): readonly ToolListing[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return tools
    .filter((tool) => passes(tool, filter))
    .filter((tool) => {
      const text = `${tool.name} ${tool.display_name ?? ''} ${tool.description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

function passes(tool: ToolListing, filter: ToolFilter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'server':
    case 'client':
      return tool.source === filter;
    case 'other':
      return tool.source !== 'server' && tool.source !== 'client';
    case 'callable':
      return tool.callable;
  }
}
