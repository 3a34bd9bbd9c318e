/** Address of one of our sockets on the server that served this page. */
export function socketUrl(path: string, page: { protocol: string; host: string }): string {
  return `${page.protocol === 'https:' ? 'wss:' : 'ws:'}//${page.host}${path}`;
}
