import { readFileSync, statSync } from 'node:fs';
import { NoteRefusedError, checkpointOrigin, readNoteSigner } from '../../events/index.js';
import type { NoteSigner } from '../../events/index.js';
import { Checkpointer } from '../checkpoints/checkpointer.js';
import { ConfigError } from '../config/load.js';
import type { Config, Role } from '../config/settings.js';
import { KafkaCheckpointTopic } from '../kafka/index.js';
import type { KafkaLog } from '../kafka/index.js';
import { startBody } from './bodies.js';
import type { Body } from './bodies.js';
import type { Ground } from './ground.js';
import { kafkaSettings } from './options.js';

const NAME = 'checkpointer';
const OTHERS_MAY_READ = 0o077;

/** The key that checkpoints are signed with, and whether others may read its file. Undefined when none is configured. Raises ConfigError. */
export const checkpointSigner = (
  { checkpoints }: Config,
  ledger: string,
): { readonly signer: NoteSigner; readonly exposed: boolean } | undefined => {
  const path = checkpoints.keyFile;
  if (path === undefined) return undefined;
  let secret: string;
  let exposed: boolean;
  try {
    secret = readFileSync(path, 'utf8');
    exposed = (statSync(path).mode & OTHERS_MAY_READ) !== 0;
  } catch {
    throw new ConfigError([`checkpoints.key_file names ${path}, which can't be read`]);
  }
  try {
    return { signer: readNoteSigner(secret, checkpointOrigin(ledger)), exposed };
  } catch (error) {
    if (error instanceof NoteRefusedError) throw new ConfigError([`checkpoints.key_file (${path}): ${error.message}`]);
    throw error;
  }
};

/** The topic of checkpoints. */
export const checkpointTopic = (config: Config, log: KafkaLog): KafkaCheckpointTopic =>
  new KafkaCheckpointTopic({
    settings: kafkaSettings(config),
    replicationFactor: config.kafka.replicationFactor,
    log,
  });

/** Signs checkpoints, where this process has the role and a key. Raises ConfigError for a key that can't be used. */
export const startCheckpointer = (ground: Ground, roles: readonly Role[]): readonly Body[] => {
  if (!roles.includes('checkpointer')) return [];
  const { config, identity, logger } = ground;
  const key = checkpointSigner(config, identity.ledger);
  if (key === undefined) {
    const state = 'does not run: checkpoints.key_file names no key, so the log is not signed';
    logger.info({ body: NAME }, `the checkpointer ${state}`);
    return [{ wake: () => undefined, stop: () => Promise.resolve(), state: () => ({ name: NAME, ok: true, state }) }];
  }
  if (key.exposed) logger.warn({ body: NAME }, 'the file of the checkpoint key can be read by others than its owner');
  const checkpointer = checkpointerOf(ground, key.signer);
  const pauseMs = config.checkpoints.intervalSeconds * 1000;
  const body = startBody(logger, NAME, pauseMs, () => checkpointer.run());
  return [
    {
      wake: () => body.wake(),
      stop: async () => {
        await body.stop();
        await checkpointer.close();
      },
      state: () => {
        const said = body.state();
        return said.ok ? { name: NAME, ...checkpointer.state } : said;
      },
    },
  ];
};

const checkpointerOf = ({ config, identity, logger, metrics, reading, elections }: Ground, signer: NoteSigner) =>
  new Checkpointer({
    ledger: identity.ledger,
    signer,
    source: reading.checkpoints,
    elections,
    ...(config.checkpoints.file === undefined ? {} : { file: config.checkpoints.file }),
    topic: checkpointTopic(config, logger),
    onSigned: ({ timeMs }) => metrics.checkpoints.signed(timeMs),
    onRefused: (why) => {
      metrics.checkpoints.refused();
      logger.error({ body: NAME, why }, `THE LOG CONTRADICTS WHAT WAS SIGNED, nothing is signed any more: ${why}`);
    },
    onNotice: (what) => logger.warn({ body: NAME }, what),
  });
