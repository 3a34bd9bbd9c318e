import { Button, type ButtonProps } from './button.tsx';
import { Tooltip } from './tooltip.tsx';

export interface IconButtonProps extends Omit<ButtonProps, 'aria-label'> {
  /** Its name, also shown as a tooltip. */
  label: string;
}

/** A button with a picture instead of words; its name is its tooltip. */
export function IconButton({
  label,
  className = '',
  variant = 'ghost',
  ...props
}: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <Button {...props} variant={variant} aria-label={label} className={`btn-icon ${className}`} />
    </Tooltip>
  );
}
