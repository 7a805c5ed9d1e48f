import { expect, test } from 'vitest';
import { EXIT, RejectedError, WrongUseError, exitCodeOf } from '../../../src/cli/exit.js';
import { SessionLostError, openHoldfast } from '../../../src/compose.js';
import { configFrom } from '../../../src/config/load.js';
import { UnavailableError } from '../../../src/core/ports.js';
import { KafkaError } from '../../../src/kafka/index.js';
import { createLogger } from '../../../src/logging.js';

test.each([
  [new SessionLostError('Postgres is away'), EXIT.unreachable],
  [new UnavailableError('journal_fenced', 'fenced'), EXIT.unreachable],
  [new KafkaError('unreachable', 'Kafka is away'), EXIT.unreachable],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), EXIT.unreachable],
  [new WrongUseError('--partition must be below 64'), EXIT.wrongUse],
  [new RejectedError({ code: 'account_not_found', account: 'a' }), EXIT.found],
  [new Error('a bug'), EXIT.found],
])('%s ends a command with %i', (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test('a command that finds no Postgres ends with 3, and its words hold no password', async () => {
  const away = { postgres: { url: 'postgres://u:sekret@127.0.0.1:1/x' }, redis: { url: 'redis://127.0.0.1:2' } };
  const config = configFrom({ ...away, kafka: { brokers: ['127.0.0.1:3'] } });
  const error: unknown = await openHoldfast(config, { logger: createLogger({ level: 'silent' }), roles: [] }).catch(
    (caught: unknown) => caught,
  );
  expect(exitCodeOf(error)).toBe(EXIT.unreachable);
  expect(String(error)).toMatch(/Postgres is away/);
  expect(String(error)).not.toContain('sekret');
});
