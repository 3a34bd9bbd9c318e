/** The pages of the header, with the key of their name in `shell.nav`. */
export const PAGES = [
  { href: '/', name: 'workbench', key: 'w' },
  { href: '/tools', name: 'tools', key: 't' },
  { href: '/docs', name: 'docs', key: 'd' },
] as const;
