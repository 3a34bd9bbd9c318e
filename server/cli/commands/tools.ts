import { toolsAnswerSchema } from '#lib/protocol/rest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { Command, Context } from '../command.ts';
import { CliError } from '../exit-codes.ts';

export const toolsCommand: Command = {
  name: 'tools',
  parameters: '[name]',
  summary: 'List the tools that are registered now, or show one with its schema',
  counts: [0, 1],
  async run(context) {
    const [name] = context.args;
    const query = name === undefined ? '' : `?name=${encodeURIComponent(name)}`;
    const { tools } = await context.server().get(`/api/tools${query}`, toolsAnswerSchema);
    if (name === undefined) printAll(context, tools);
    else printOne(context, name, tools);
    return 'ok';
  },
};

function printAll({ out }: Context, tools: readonly ToolListing[]): void {
  out.document({ tools });
  const rows = tools.map((tool) => [
    tool.name,
    tool.source === 'client' ? clientNames(tool) : tool.source,
    tool.callable ? 'yes' : `no: ${tool.reason ?? ''}`,
    tool.description,
  ]);
  out.table(['NAME', 'FROM', 'CALLABLE', 'DESCRIPTION'], rows, 'No tool is registered.');
}

function printOne({ out }: Context, name: string, tools: readonly ToolListing[]): void {
  const [tool] = tools;
  if (tool === undefined) {
    throw new CliError(
      'notFound',
      `no tool ${name} is registered now; "callboard tools" lists all`,
    );
  }
  out.document(tool);
  out.line(`${tool.name}: ${tool.description}`);
  out.line(`From: ${tool.source === 'client' ? clientNames(tool) : tool.source}`);
  out.line(`Callable: ${tool.callable ? 'yes' : `no: ${tool.reason ?? ''}`}`);
  out.text(`Arguments: ${JSON.stringify(tool.schema, null, 2)}`);
}

const clientNames = ({ clients }: ToolListing): string =>
  clients.map(({ name }) => name).join(', ');
