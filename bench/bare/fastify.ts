import { Pool } from 'undici';
import { treeCpuUs } from '../cpu.js';
import { startProcess } from '../ledger/http.js';
import type { Bare } from './evalsha.js';

const BODY = JSON.stringify({ id: 'h0000000-1234567', amount: '5000' });

/** A fastify handler that does nothing, in a process of its own, with the load that the ledger's server gets. */
export const openFastify = async (connections: number): Promise<Bare> => {
  const server = await startProcess('../bare/empty-server.js', [], process.env);
  const pool = new Pool(server.url, { connections, pipelining: 1 });
  return {
    subject: {
      name: 'empty fastify handler',
      eventsPerOperation: 1,
      meters: { node: () => treeCpuUs(server.pid) },
      operation: async () => {
        const headers = { 'content-type': 'application/json', authorization: 'Bearer none', 'holdfast-tenant': 'c1' };
        const response = await pool.request({ method: 'POST', path: '/v1/reservations', headers, body: BODY });
        if (response.statusCode !== 201) throw new Error(`The empty server said ${response.statusCode}.`);
        await response.body.text();
      },
    },
    stop: async () => {
      await pool.close();
      await server.stop();
    },
  };
};
