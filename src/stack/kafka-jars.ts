/** Kafka's own jars from Maven Central: the real broker, without what a single node never loads. */
import { fetchByMaven } from './maven.js';
import type { FindContext } from './local-program.js';

export const KAFKA_VERSION = '4.3.1';
const SCALA_VERSION = '2.13';
const SLF4J_VERSION = '1.7.36';

const EXCLUDED = [
  'com.github.ben-manes.caffeine:caffeine',
  'commons-beanutils:commons-beanutils',
  'commons-collections:commons-collections',
  'commons-digester:commons-digester',
  'commons-logging:commons-logging',
  'org.scala-lang:scala-reflect',
  'org.bitbucket.b_c:jose4j',
  'com.fasterxml.jackson.dataformat:jackson-dataformat-csv',
  'com.fasterxml.jackson.datatype:jackson-datatype-jdk8',
  'org.yaml:snakeyaml',
];

function exclusion(name: string): string {
  const [group, artifact] = name.split(':');
  return `<exclusion><groupId>${group ?? ''}</groupId><artifactId>${artifact ?? ''}</artifactId></exclusion>`;
}

function dependency(group: string, artifact: string, version: string, inner = ''): string {
  return (
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId>` +
    `<version>${version}</version>${inner}</dependency>`
  );
}

function pom(): string {
  const kafka = dependency(
    'org.apache.kafka',
    `kafka_${SCALA_VERSION}`,
    KAFKA_VERSION,
    `<exclusions>${EXCLUDED.map(exclusion).join('')}</exclusions>`,
  );
  return (
    '<project><modelVersion>4.0.0</modelVersion><groupId>holdfast</groupId><artifactId>kafka</artifactId>' +
    `<version>1</version><dependencies>${kafka}${dependency('org.slf4j', 'slf4j-simple', SLF4J_VERSION)}` +
    '</dependencies></project>'
  );
}

/** The folder with the jars, fetched when the cache lacks them. @throws Unusable when Maven can't. */
export function fetchKafkaJars(context: FindContext): Promise<string> {
  return fetchByMaven(
    {
      label: `Kafka ${KAFKA_VERSION}`,
      key: `kafka-${KAFKA_VERSION}-slf4j-${SLF4J_VERSION}`,
      filesExpected: 310,
      goal: 'copy-dependencies',
      properties: { includeScope: 'runtime' },
      pom: pom(),
    },
    context,
  );
}
