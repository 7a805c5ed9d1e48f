import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConfigError, configFrom, loadConfig } from '../../src/config/load.js';
import { SETTINGS, allSettings, environmentKey, fileKey } from '../../src/config/settings.js';

/** The least that a server needs. */
const NEEDED = {
  HOLDFAST_POSTGRES_URL: 'postgres://holdfast:hunter2@db/ledger',
  HOLDFAST_REDIS_URL: 'redis://:hunter2@cache:6379',
  HOLDFAST_KAFKA_BROKERS: 'one:9092, two:9092',
};

const problemsOf = (act: () => unknown): readonly string[] => {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

const problemsWith = (more: Readonly<Record<string, string>>): readonly string[] =>
  problemsOf(() => loadConfig({ ...NEEDED, ...more }));

describe('the environment', () => {
  test('with the three addresses is enough; the rest has defaults', () => {
    const config = loadConfig(NEEDED);
    expect(config).toMatchObject({
      postgres: { url: NEEDED.HOLDFAST_POSTGRES_URL },
      redis: { url: NEEDED.HOLDFAST_REDIS_URL, keyPrefix: 'hf' },
      kafka: { brokers: ['one:9092', 'two:9092'], topic: 'holdfast.events' },
      ledger: { partitions: 64 },
      reservations: { ttlSeconds: 600, ttlMaxSeconds: 3600, holdPolicy: 'larger', raiseFactor: 10 },
    });
  });

  test('is read into every kind of setting', () => {
    const config = loadConfig({
      ...NEEDED,
      HOLDFAST_HTTP_MAX_IN_FLIGHT: '7',
      HOLDFAST_KAFKA_TLS: 'true',
      HOLDFAST_KAFKA_CA_FILE: '/etc/ca.pem',
      HOLDFAST_RESERVATIONS_HOLD_POLICY: 'caller',
      HOLDFAST_SERVICE_ROLES: 'api, relay',
      HOLDFAST_LEDGER_NAME: 'production',
    });
    expect(config).toMatchObject({
      http: { maxInFlight: 7 },
      kafka: { tls: true, caFile: '/etc/ca.pem' },
      reservations: { holdPolicy: 'caller' },
      service: { roles: ['api', 'relay'] },
      ledger: { name: 'production' },
    });
  });

  test('without an address is refused, naming each that is missing', () => {
    const problems = problemsOf(() => loadConfig({}));
    expect(problems).toHaveLength(3);
    for (const key of Object.keys(NEEDED)) expect(problems.join('\n')).toContain(`${key} is missing`);
  });

  test('with an unknown setting is refused, naming it: a typo must not be a default', () => {
    expect(problemsWith({ HOLDFAST_HTP_PORT: '1' })).toEqual(['HOLDFAST_HTP_PORT is not a setting']);
  });

  test('may hold what the command line, the tests and the stack tool use, and anything of others', () => {
    expect(problemsWith({ HOLDFAST_URL: 'x', HOLDFAST_KEY: 'y', HOLDFAST_TEST_X: 'z', HOLDFAST_STACK_X: 'z', PATH: '/' })).toEqual([]); // prettier-ignore
  });

  test.each([
    ['HOLDFAST_HTTP_PORT', ['65536', '-1', '1.5', '1e3', ' 80', 'http', '', '9'.repeat(16)]],
    ['HOLDFAST_LEDGER_PARTITIONS', ['0', '1025']],
    ['HOLDFAST_KAFKA_TLS', ['yes', '1', 'TRUE', '']],
    ['HOLDFAST_RESERVATIONS_HOLD_POLICY', ['largest', '']],
    ['HOLDFAST_RESERVATIONS_LEVEL', ['fast']],
    ['HOLDFAST_SERVICE_ROLES', ['', 'api,', 'api,nothing']],
    ['HOLDFAST_LEDGER_NAME', ['', '  ']],
    ['HOLDFAST_KAFKA_BROKERS', ['', 'host', 'host:', ':9092', 'host:0', 'host:65536', 'a:1,,b:2', 'kafka://a:1']],
    ['HOLDFAST_KAFKA_TOPIC', ['', 'a b', 'a/b', 'a'.repeat(250)]],
    ['HOLDFAST_REDIS_KEY_PREFIX', ['', '{a}', 'a b']],
    ['HOLDFAST_REDIS_URL', ['', 'cache:6379', 'http://cache', 'redis://a,cache:6379']],
    ['HOLDFAST_POSTGRES_URL', ['', 'db', 'mysql://db', 'host=db']],
    ['HOLDFAST_POSTGRES_ADMIN_URL', ['', 'db']],
  ])('with a bad %s is refused, naming it', (key, values) => {
    for (const value of values) {
      const problems = problemsWith({ [key]: value });
      expect(problems, value).toHaveLength(1);
      expect(problems[0]).toMatch(new RegExp(`^${key} must be `));
    }
  });

  test('tells all that is wrong at once', () => {
    expect(problemsWith({ HOLDFAST_HTTP_PORT: 'x', HOLDFAST_LOG_LEVEL: 'y', HOLDFAST_Z: 'z' })).toHaveLength(3);
  });
});

describe('a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const withFile = (content: string, more: Readonly<Record<string, string>> = {}) => {
    const path = join(folder, 'holdfast.yaml');
    writeFileSync(path, content);
    return { ...NEEDED, HOLDFAST_CONFIG: path, ...more };
  };
  const problemsIn = (content: string): readonly string[] => problemsOf(() => loadConfig(withFile(content)));

  test('in YAML or JSON sets what the environment leaves open', () => {
    const yaml = 'http:\n  max_in_flight: 7\nkafka: { tls: true }\nservice:\n  roles: [api, relay]\n';
    for (const content of [
      yaml,
      '{"http":{"max_in_flight":7},"kafka":{"tls":true},"service":{"roles":["api","relay"]}}',
    ])
      expect(loadConfig(withFile(content))).toMatchObject({
        http: { maxInFlight: 7 },
        kafka: { tls: true },
        service: { roles: ['api', 'relay'] },
      });
  });

  test('gives way to the environment', () => {
    expect(loadConfig(withFile('http: { port: 1 }', { HOLDFAST_HTTP_PORT: '2' })).http.port).toBe(2);
  });

  test('may hold the addresses', () => {
    const file = withFile('kafka: { brokers: ["one:9092", "[::1]:9092"] }');
    const environment = { ...file, HOLDFAST_KAFKA_BROKERS: undefined };
    expect(loadConfig(environment).kafka.brokers).toEqual(['one:9092', '[::1]:9092']);
  });

  test.each([
    ['an unknown key', 'http: { prot: 1 }', 'http.prot'],
    ['a key in the spelling of code', 'http: { maxInFlight: 1 }', 'http.maxInFlight'],
    ['an unknown section', 'htp: { port: 1 }', 'htp'],
    ['an unknown section with nothing in it', 'htp: {}', 'htp'],
    ['a section that is none', 'http: 80', 'http'],
    ['a bad value', 'http: { port: "x" }', 'http.port must be'],
    ['a fraction', 'http: { port: 1.5 }', 'http.port must be'],
    ['a list of nothing', 'service: { roles: [] }', 'service.roles must be'],
    ['a list with a hole', 'service: { roles: [api, null] }', 'service.roles must be'],
    ['a list at its root', '- 1', 'HOLDFAST_CONFIG'],
    ['nothing', '', 'HOLDFAST_CONFIG'],
  ])('with %s is refused, naming it', (_what, content, named) => {
    const problems = problemsIn(content);
    expect(problems[0]).toContain(named);
  });

  test('that is not there is refused', () => {
    const problems = problemsOf(() => loadConfig({ ...NEEDED, HOLDFAST_CONFIG: join(folder, 'none.yaml') }));
    expect(problems).toEqual([expect.stringMatching(/^HOLDFAST_CONFIG: .*none\.yaml can't be read \(ENOENT\)$/)]);
  });

  test.each(['kafka:\n  sasl_password: "hunter2\n', 'kafka:\n  sasl_password: *hunter2\n', '{"a":"hunter2"'])(
    'that is not YAML is refused by its line, without repeating it',
    (content) => {
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const problems = problemsIn(content);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/^HOLDFAST_CONFIG: .*(line \d+|can't be read)/);
      expect(problems[0]).not.toContain('hunter2');
      expect(warned).not.toHaveBeenCalled();
      warned.mockRestore();
    },
  );
});

describe('settings by code', () => {
  const needed = {
    postgres: { url: NEEDED.HOLDFAST_POSTGRES_URL },
    redis: { url: NEEDED.HOLDFAST_REDIS_URL },
    kafka: { brokers: ['one:9092'] },
  };

  test('are checked by the same rules', () => {
    expect(configFrom({ ...needed, http: { port: 0 } }).http.port).toBe(0);
    expect(problemsOf(() => configFrom({ ...needed, http: { port: -1 } }))).toEqual([
      'http.port must be a whole number, 0 to 65535',
    ]);
    expect(problemsOf(() => configFrom({ ...needed, http: Object.fromEntries([['prot', 1]]) }))).toEqual([
      'http.prot is not a setting',
    ]);
  });
});

describe('settings that do not go together are refused', () => {
  test.each([
    ['a default time to live beyond the longest', { HOLDFAST_RESERVATIONS_TTL_SECONDS: '3601' }, 'ttl_max_seconds'],
    ['SASL without a password', { HOLDFAST_KAFKA_SASL_MECHANISM: 'plain', HOLDFAST_KAFKA_SASL_USERNAME: 'u' }, 'sasl_password'],
    ['a Kafka certificate without its key', { HOLDFAST_KAFKA_TLS: 'true', HOLDFAST_KAFKA_CERT_FILE: 'c' }, 'kafka.key_file'],
    ['a Redis key without its certificate', { HOLDFAST_REDIS_KEY_FILE: 'k' }, 'redis.cert_file'],
    ['a Kafka authority without TLS', { HOLDFAST_KAFKA_CA_FILE: 'c' }, 'kafka.tls'],
    ['a Redis authority without TLS', { HOLDFAST_REDIS_CA_FILE: 'c' }, 'rediss://'],
  ])('%s', (_what, more, named) => {
    const problems = problemsWith({ ...more });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(named);
  }); // prettier-ignore
});

describe('a secret', () => {
  test('is never repeated, whatever is wrong with it', () => {
    const secrets = allSettings().filter(({ setting }) => setting.secret);
    expect(secrets.map(({ section, key }) => fileKey(section, key))).toEqual([
      'postgres.url',
      'postgres.admin_url',
      'redis.url',
      'kafka.sasl_password',
    ]);
    for (const { section, key } of secrets) {
      for (const value of ['hunter2', 'ftp://user:hunter2@host', ' ']) {
        const problems = problemsWith({ [environmentKey(section, key)]: value }).join('\n');
        expect(problems).not.toContain('hunter2');
      }
    }
  });

  test('is what its name says: a setting that can hold a password is marked as one', () => {
    for (const { section, key, setting } of allSettings())
      if (/password|secret|url$/i.test(key)) expect(setting.secret, `${section}.${key}`).toBe(true);
  });
});

test('every setting has its own name in the environment and in the file', () => {
  const names = allSettings().map(({ section, key }) => environmentKey(section, key));
  expect(new Set(names).size).toBe(names.length);
  expect(environmentKey('http', 'maxInFlight')).toBe('HOLDFAST_HTTP_MAX_IN_FLIGHT');
  expect(fileKey('http', 'maxInFlight')).toBe('http.max_in_flight');
  expect(Object.keys(SETTINGS)).not.toContain('config');
});
