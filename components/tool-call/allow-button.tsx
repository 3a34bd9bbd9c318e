import { Button, type ButtonProps } from '#components/ui/button';

export interface AllowButtonProps extends Omit<ButtonProps, 'aria-disabled' | 'aria-describedby'> {
  /** Id of the text that explains why the call cannot be allowed yet; null when it can. */
  blockedBy: string | null;
  /** In place of a click while it cannot be allowed. */
  onBlocked: () => void;
}

/**
 * A button that allows a call. While it may not, it can still be reached, so
 * that those who listen get the reason; a press leads to what is to be read.
 */
export const AllowButton = ({ blockedBy, onBlocked, onClick, ...props }: AllowButtonProps) => (
  <Button
    {...props}
    data-decides=""
    {...(blockedBy === null ? {} : { 'aria-disabled': true, 'aria-describedby': blockedBy })}
    onClick={blockedBy === null ? onClick : onBlocked}
  />
);
