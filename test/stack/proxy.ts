/** A TCP proxy that fails on command: connections cut, refused, slowed, and replies lost after their request arrived. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Chooses the request whose reply is lost: how many chunks to let pass first, or a test of a chunk's bytes. */
export type DropRule = number | ((request: Buffer) => boolean);

export interface FaultProxy {
  readonly port: number;
  /** The same URL with the proxy's host and port in place of the target's. */
  through(url: string): string;
  /** How many connections it holds open. */
  connections(): number;
  /** Breaks every connection; new ones are taken as before. */
  cut(): void;
  /** Breaks every connection and refuses new ones (ECONNREFUSED). */
  refuse(): Promise<void>;
  /** Takes connections again, on the same port. */
  accept(): Promise<void>;
  /**
   * Passes the chosen request on, and breaks the connection once the target has begun to answer, without passing the
   * answer. Happens once; the promise resolves when it has.
   */
  dropRepliesAfter(rule: DropRule): Promise<void>;
  /** Holds every chunk in both directions for so long; 0 ends it. */
  delay(ms: number): void;
  close(): Promise<void>;
}

interface PendingDrop {
  matches(request: Buffer): boolean;
  happened(): void;
}

/** Writes chunks in order, each when it is due. */
function delayedWriter(to: Socket, delayMs: () => number): { write(chunk: Buffer): void; end(): void } {
  const queue: { due: number; act: () => void }[] = [];
  const flush = (): void => {
    while (queue[0] !== undefined && queue[0].due <= Date.now()) queue.shift()?.act();
    if (queue[0] !== undefined) setTimeout(flush, Math.max(1, queue[0].due - Date.now()));
  };
  const enqueue = (act: () => void): void => {
    const idle = queue.length === 0;
    const due = Math.max(queue.at(-1)?.due ?? 0, Date.now() + delayMs());
    if (idle && due <= Date.now()) act();
    else if (queue.push({ due, act }) === 1) flush();
  };
  return {
    write: (chunk) => enqueue(() => to.writable && to.write(chunk)),
    end: () => enqueue(() => to.end()),
  };
}

function dropFor(rule: DropRule, happened: () => void): PendingDrop {
  if (typeof rule !== 'number') return { matches: rule, happened };
  let left = rule;
  return { matches: () => left-- <= 0, happened };
}

class Proxy {
  readonly #host: string;
  readonly #port: number;
  readonly #open = new Set<Socket>();
  #delayMs = 0;
  #drop: PendingDrop | undefined;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  connections(): number {
    return this.#open.size;
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  dropRepliesAfter(rule: DropRule): Promise<void> {
    return new Promise((resolve) => {
      this.#drop = dropFor(rule, resolve);
    });
  }

  readonly handle = (client: Socket): void => {
    const target = connect({ host: this.#host, port: this.#port, noDelay: true });
    client.setNoDelay(true);
    this.#open.add(client);
    let dropping: PendingDrop | undefined;
    const [up, down] = [target, client].map((socket) => delayedWriter(socket, () => this.#delayMs));
    const breakBoth = (): void => {
      client.destroy();
      target.destroy();
      this.#open.delete(client);
    };
    client.on('data', (chunk: Buffer) => {
      if (this.#drop?.matches(chunk)) {
        dropping = this.#drop;
        this.#drop = undefined;
      }
      up?.write(chunk);
    });
    target.on('data', (chunk: Buffer) => {
      if (dropping === undefined) {
        down?.write(chunk);
        return;
      }
      breakBoth();
      dropping.happened();
    });
    client.on('end', () => up?.end());
    target.on('end', () => down?.end());
    for (const socket of [client, target]) socket.on('error', breakBoth).on('close', breakBoth);
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => {
      server.removeListener('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Starts a proxy on a free loopback port, in front of `host:port` or of what a URL names. */
export async function startProxy(target: string): Promise<FaultProxy> {
  const { hostname, port: targetPort } = new URL(target.includes('://') ? target : `tcp://${target}`);
  const proxy = new Proxy(hostname, Number(targetPort));
  // Half-open sockets are allowed, so that an end passes through in order like everything else.
  const server = createServer({ allowHalfOpen: true }, proxy.handle);
  const port = await listen(server, 0);
  const stopListening = async (): Promise<void> => {
    const closed = server.listening ? close(server) : Promise.resolve();
    proxy.cut();
    await closed;
  };
  return {
    port,
    through: (url) => url.replace(`${hostname}:${targetPort}`, `127.0.0.1:${port}`),
    connections: () => proxy.connections(),
    cut: () => proxy.cut(),
    refuse: stopListening,
    accept: async () => {
      if (!server.listening) await listen(server, port);
    },
    dropRepliesAfter: (rule) => proxy.dropRepliesAfter(rule),
    delay: (ms) => proxy.delay(ms),
    close: stopListening,
  };
}
