/** docs/CONFIGURATION.md, worked out from the settings themselves, so that it cannot say otherwise than the program does. */
import { format, resolveConfig } from 'prettier';
import { SETTINGS, allSettings, environmentKey, fileKey } from '../../src/config/settings.js';
import type { Setting } from '../../src/config/setting.js';

const HEAD = `# Configuration

<!-- Written by \`npm run docs:configuration\` from src/config/settings.ts: change it there. -->

Every setting can stand in the environment or in a file; the environment wins. \`HOLDFAST_CONFIG\` names the file, which is
YAML or JSON: a section holds its keys.

\`\`\`yaml
http:
  port: 7420
kafka:
  brokers: ['one:9092', 'two:9092']
\`\`\`

Whatever is unknown, bad, missing or contradicts another setting refuses to start, and the message names the key and never
repeats the value of a secret. \`createLedger(config)\` takes the same settings by code (\`{ http: { maxInFlight: 7 } }\`) and
holds them to the same rules.

Refused together: a default time to live beyond the longest; SASL without user and password; a certificate without its
key; certificates where no TLS is spoken.
`;

const TAIL = `## Beside the settings

| in the environment | |
| --- | --- |
| \`HOLDFAST_CONFIG\` | path of the configuration file |
| \`HOLDFAST_URL\`, \`HOLDFAST_KEY\` | for the command line: the server to talk to, and the key |
| \`HOLDFAST_STACK_…\` | for \`holdfast stack\`, see \`holdfast stack --help\` |
`;

const ABOUT: Readonly<Record<keyof typeof SETTINGS, string>> = {
  ledger: 'The ledger itself. Both are fixed when it is created.',
  postgres: 'The journal.',
  redis: 'The guard, and the balances.',
  kafka: 'The log for everybody else.',
  http: 'The way in.',
  reservations: 'What holds for every reservation that does not say otherwise.',
  service: 'What this process does beside answering.',
  checkpoints: 'What it signs: see [CHECKPOINTS.md](CHECKPOINTS.md).',
  log: 'What it says.',
};

const sectionOf = (name: string): string => ABOUT[name as keyof typeof SETTINGS];

const fallbackOf = ({ fallback, required }: Setting<unknown>): string => {
  if (required) return '**must be given**';
  if (fallback === undefined) return 'none';
  return `\`${Array.isArray(fallback) ? fallback.join(',') : JSON.stringify(fallback).replaceAll('"', '')}\``;
};

const rowOf = ({ section, key, setting }: ReturnType<typeof allSettings>[number]): string => {
  const about = setting.secret ? `${setting.about} (secret)` : setting.about;
  return `| \`${environmentKey(section, key)}\` | \`${fileKey(section, key)}\` | ${fallbackOf(setting)} | ${setting.accepts} | ${about} |`;
};

/** The whole page, as prettier would write it. */
export const configurationDocument = async (): Promise<string> => {
  const sections = Object.keys(SETTINGS).map((name) =>
    [
      `## ${name}`,
      '',
      sectionOf(name),
      '',
      '| environment | file | default | accepts | what it is |',
      '| --- | --- | --- | --- | --- |',
      ...allSettings()
        .filter(({ section }) => section === name)
        .map(rowOf),
      '',
    ].join('\n'),
  );
  const style = await resolveConfig('docs/CONFIGURATION.md');
  return format([HEAD, ...sections, TAIL].join('\n'), { ...style, parser: 'markdown' });
};
