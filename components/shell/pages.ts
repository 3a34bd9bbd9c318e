/** The pages of the header, with the key of their name in `shell.nav`. */
export const PAGES = [
  { href: '/', name: 'workbench', key: 'w' },
  { href: '/approvals', name: 'approvals', key: 'a' },
  { href: '/tools', name: 'tools', key: 't' },
  { href: '/devices', name: 'devices', key: 'v' },
  { href: '/docs', name: 'docs', key: 'd' },
  { href: '/settings', name: 'settings', key: 's' },
] as const;

/** Whether the page at this path is the one of the header, or one below it. */
export const isAt = (href: string, pathname: string): boolean =>
  pathname === href || pathname.startsWith(`${href}/`);
