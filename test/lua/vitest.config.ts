import { defineConfig } from 'vitest/config';

/**
 * The tests that need nothing but Redis, on the redis-server that comes first on the PATH (HOLDFAST_REDIS_URL where it is
 * set); with REDIS_TOPOLOGY=cluster on a Cluster of three. scripts/try-redis-versions.sh runs them on other versions.
 */
export default defineConfig({
  test: {
    include: ['test/lua/**/*.test.ts', 'test/contract/redis-*.test.ts'],
    globalSetup: ['test/lua/redis-only-setup.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/stack/count-reporter.ts'],
  },
});
