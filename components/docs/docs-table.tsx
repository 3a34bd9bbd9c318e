import { ScrollRegion } from '#components/result/scroll-region';

export interface DocsTableProps {
  caption: string;
  /** The operation, so that each scrolling part has a name of its own. */
  of: string;
  head: readonly string[];
  /** The first cell of each names its row. */
  rows: readonly (readonly string[])[];
}

/** A table with headers that scrolls by itself on a narrow screen. */
export const DocsTable = ({ caption, of, head, rows }: DocsTableProps) => (
  <ScrollRegion label={`${caption}: ${of}`} className="mt-3">
    <table className="w-full text-left text-sm">
      <caption className="pb-1 text-left font-semibold">{caption}</caption>
      <thead>
        <tr className="border-line border-b text-muted">
          {head.map((title) => (
            <th key={title} scope="col" className="py-1 pr-4 font-semibold">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name = '', ...cells]) => (
          <tr key={name} className="border-line border-b align-top last:border-b-0">
            <th scope="row" className="mono py-1 pr-4 font-normal">
              {name}
            </th>
            {cells.map((cell, index) => (
              <td key={head[index + 1]} className="py-1 pr-4">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);
