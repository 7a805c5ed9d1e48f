import fc from 'fast-check';
import { expect, test } from 'vitest';
import { steps } from '../model/random-steps.js';
import { RedisDriver } from '../model/redis-driver.js';

test('Redis is what the fold says after every step, whatever befalls it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 60, size: 'max' }), async (taken) => {
      const driver = await RedisDriver.open();
      try {
        for (const step of taken) await driver.take(step);
        await driver.finish();
      } finally {
        await driver.close();
      }
    }),
    { numRuns: Number(process.env['HOLDFAST_MODEL_RUNS'] ?? '40') },
  );
  expect.hasAssertions();
}, 120_000);
