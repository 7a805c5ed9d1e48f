/** A server whose only handler reads a body and says yes: what HTTP itself costs. */
import Fastify from 'fastify';

const app = Fastify();
app.post('/v1/reservations', (_request, reply) => reply.status(201).send({ id: 'h0000000-1234567', state: 'open' }));
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.once('SIGTERM', () => void app.close());
