import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/**
 * A TCP port on loopback that was free a moment ago: the preferred one if it is, so that a service keeps its address
 * over a restart. Somebody may still take it in between; starters retry when the service says so.
 */
export async function freePort(preferred?: number): Promise<number> {
  const kept = preferred === undefined ? undefined : await tryPort(preferred);
  const port = kept ?? (await tryPort(0));
  if (port === undefined) throw new Error('no free TCP port on 127.0.0.1');
  return port;
}

/** True when a service's log says that somebody else took its port. */
export function saysPortTaken(log: string): boolean {
  return /address already in use|EADDRINUSE|BindException/i.test(log);
}
