import type { ComponentProps } from 'react';

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'plain' | 'primary' | 'danger' | 'ghost';
  size?: 'md' | 'sm';
}

const VARIANTS = { plain: '', primary: 'btn-primary', danger: 'btn-danger', ghost: 'btn-ghost' };

/** A button. `type="button"` unless it is set to submit. */
export function Button({ variant = 'plain', size = 'md', className = '', ...props }: ButtonProps) {
  const classes = ['btn', VARIANTS[variant], size === 'sm' ? 'btn-sm' : '', className];
  return <button type="button" {...props} className={classes.filter(Boolean).join(' ')} />;
}
