import { MarkedText } from '#components/ui/marked-text';

interface NamesNoteProps {
  title: string;
  names: string;
  /** Of those that are not named. */
  more: string | null;
}

/** A line of a card about some names that others have written. */
export function NamesNote({ title, names, more }: NamesNoteProps) {
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere">
      {title}
      <span className="mono">
        <MarkedText text={names} />
      </span>
      {more}
    </p>
  );
}
