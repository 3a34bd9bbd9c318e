/** A board with calls on it: one waiting, one running, one done. */
export const Logo = () => (
  <svg aria-hidden="true" viewBox="0 0 32 32" className="size-5 shrink-0">
    <rect x="2" y="4" width="28" height="24" rx="6" fill="var(--accent)" />
    <rect x="7" y="9.5" width="18" height="3" rx="1.5" fill="var(--accent-fg)" />
    <rect x="7" y="14.5" width="12" height="3" rx="1.5" fill="var(--accent-fg)" opacity=".75" />
    <rect x="7" y="19.5" width="7" height="3" rx="1.5" fill="var(--accent-fg)" opacity=".5" />
  </svg>
);
