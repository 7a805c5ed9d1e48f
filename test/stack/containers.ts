/** Services in containers for one test run, by testcontainers: gone when the run ends, however it ends. */
import { randomBytes } from 'node:crypto';
import type * as testcontainers from 'testcontainers';
import type { ContainerSource, StartContext } from '../../src/stack/candidates.js';
import { composeImage, containerAddress } from '../../src/stack/compose.js';
import { reasonOf, throwIfInterrupted } from '../../src/stack/errors.js';
import { Unusable } from '../../src/stack/local-program.js';
import { freePort } from '../../src/stack/ports.js';
import { probe, waitUntil } from '../../src/stack/probes.js';
import { SERVICE_TITLES, type ServiceName, type StartedService } from '../../src/stack/services.js';

const READY_TIMEOUT_MS = 90_000;

type Testcontainers = typeof testcontainers;

/** The library, once an engine has answered it. @throws Unusable when none does. */
async function findEngine(): Promise<Testcontainers> {
  const library = await import('testcontainers');
  await library.getContainerRuntimeClient().catch((error: unknown) => {
    throw new Unusable('no Docker engine answers', undefined, { cause: error });
  });
  return library;
}

async function ensureImage({ getContainerRuntimeClient, ImageName }: Testcontainers, image: string): Promise<void> {
  const client = await getContainerRuntimeClient();
  const name = ImageName.fromString(image);
  if (await client.image.exists(name)) return;
  await client.image.pull(name).catch((error: unknown) => {
    throw new Unusable(`Docker can't pull ${image} (${reasonOf(error)})`, undefined, { cause: error });
  });
}

function kafkaEnvironment(port: number): Record<string, string> {
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9093',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENERS: 'HOST://:9092,CONTROLLER://127.0.0.1:9093,INTERNAL://127.0.0.1:19092',
    KAFKA_ADVERTISED_LISTENERS: `HOST://127.0.0.1:${port},INTERNAL://127.0.0.1:19092`,
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'HOST:PLAINTEXT,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT',
    KAFKA_INTER_BROKER_LISTENER_NAME: 'INTERNAL',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_HEAP_OPTS: '-Xms64m -Xmx256m',
  };
}

/** The host's port is chosen beforehand: Kafka has to be told, before it starts, where clients will find it. */
function configure(
  { GenericContainer: Container, Wait }: Testcontainers,
  name: ServiceName,
  image: string,
  port: number,
  password: string,
): testcontainers.GenericContainer {
  const container = new Container(image);
  switch (name) {
    case 'postgres':
      return container
        .withEnvironment({ POSTGRES_DB: 'holdfast', POSTGRES_PASSWORD: password })
        .withCommand(['postgres', '-c', 'max_connections=200', '-c', 'fsync=on'])
        .withExposedPorts({ container: 5432, host: port });
    case 'redis':
      return container
        .withCommand([
          'redis-server',
          '--requirepass',
          password,
          '--maxmemory-policy',
          'noeviction',
          '--appendonly',
          'yes',
        ])
        .withExposedPorts({ container: 6379, host: port });
    case 'kafka':
      return container
        .withEnvironment(kafkaEnvironment(port))
        .withExposedPorts({ container: 9092, host: port })
        .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/));
  }
}

async function startContainer(name: ServiceName, context: StartContext): Promise<StartedService> {
  const library = await findEngine();
  const image = await composeImage(name);
  context.progress.say(`Starting ${SERVICE_TITLES[name]} in Docker (${image})`);
  await ensureImage(library, image);
  throwIfInterrupted(context.signal);
  const port = await freePort();
  const password = randomBytes(16).toString('hex');
  const container = await configure(library, name, image, port, password).withStartupTimeout(READY_TIMEOUT_MS).start();
  const stop = async (): Promise<void> => {
    await container.stop();
  };
  const address = containerAddress(name, port, password);
  try {
    // A port that is mapped may be one that nobody listens on yet: the official PostgreSQL image starts twice.
    await waitUntil(() => probe(name, address), {
      timeoutMs: READY_TIMEOUT_MS,
      signal: context.signal,
      givenUp: () => undefined,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const detail = `${SERVICE_TITLES[name]} in Docker (${image})`;
  return { record: { name, source: 'docker', detail, address, ports: [port] }, stop, release: () => undefined };
}

/** Containers for tests. TESTCONTAINERS_RYUK_DISABLED and DOCKER_HOST mean to it what they mean to testcontainers. */
export const testContainers: ContainerSource = { start: startContainer };
