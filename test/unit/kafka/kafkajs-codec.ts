/** kafkajs's own encoders and decoders, which ours are held to. They are not in its types. */
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

interface Encoded {
  readonly buffer: Buffer;
}
type Text = string | null;
export interface Message {
  readonly key: Text;
  readonly value: Text;
  readonly headers: Readonly<Record<string, string>>;
}
interface KafkajsRecord {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
}

const { requests } = load('kafkajs/src/protocol/requests') as {
  readonly requests: Readonly<
    Record<
      'Produce' | 'Fetch',
      {
        readonly versions: readonly string[];
        readonly protocol: (choice: { readonly version: number }) => (parameters: object) => {
          readonly request: { readonly encode: () => Promise<Encoded> };
          readonly response: {
            readonly decode: (bytes: Buffer) => Promise<{
              readonly responses: readonly {
                readonly partitions: readonly { readonly messages: readonly KafkajsRecord[] }[];
              }[];
            }>;
          };
        };
      }
    >
  >;
};
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0') as {
  readonly RecordBatch: (batch: object) => Promise<Encoded>;
};
const recordOf = load('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => Encoded;
export const { createErrorFromCode } = load('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error;
};
export const kafkajsCrc32c = load('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;

export const kafkajsProduce = async (
  version: number,
  topic: string,
  batches: ReadonlyMap<number, readonly Message[]>,
  timeout: number,
): Promise<Buffer> => {
  const partitions = [...batches].map(([partition, messages]) => ({ partition, messages }));
  const produce = requests.Produce.protocol({ version })({ acks: -1, timeout, topicData: [{ topic, partitions }] });
  return (await produce.request.encode()).buffer;
};

export const kafkajsFetch = async (version: number, parameters: object): Promise<Buffer> =>
  (await requests.Fetch.protocol({ version })(parameters).request.encode()).buffer;

export const kafkajsFetched = async (version: number, answer: Buffer): Promise<readonly KafkajsRecord[][]> => {
  const { responses } = await requests.Fetch.protocol({ version })({}).response.decode(answer);
  return responses.flatMap(({ partitions }) => partitions.map(({ messages }) => [...messages]));
};

export interface BatchOptions {
  readonly base?: number;
  /** 0 none, 1 gzip; others are refused by kafkajs. */
  readonly compression?: number;
}

/** A record batch as kafkajs writes it, from an offset on. */
export const kafkajsBatch = async (messages: readonly Message[], options: BatchOptions = {}): Promise<Buffer> => {
  const records = messages.map((message, offsetDelta) => recordOf({ ...message, offsetDelta, timestampDelta: 0 }));
  const { compression = 0, base = 0 } = options;
  const lastOffsetDelta = records.length - 1;
  const batch = await RecordBatch({ compression, records, firstOffset: base, lastOffsetDelta });
  return batch.buffer;
};

/** A Fetch answer of version 11 around the record sets of partitions 0, 1, 2 … */
export const fetchAnswer = (sets: readonly { readonly error?: number; readonly set: Buffer }[]): Buffer => {
  const int = (bytes: number, value: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(value, 0, bytes);
    return buffer;
  };
  const partitions = sets.flatMap(({ error = 0, set }, partition) => [
    ...[int(4, partition), int(2, error), Buffer.alloc(24, 255), int(4, 0), int(4, -1), int(4, set.length), set],
  ]);
  const topic = [int(2, 1), Buffer.from('t'), int(4, sets.length), ...partitions];
  return Buffer.concat([int(4, 0), int(2, 0), int(4, 0), int(4, 1), ...topic]);
};
