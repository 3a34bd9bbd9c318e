/** `read-worker.ts` on a machine that is slow to start it. */
const start = performance.now();
while (performance.now() - start < 600);
await import('../read-worker.ts');

export {};
