import { existsSync } from 'node:fs';

const MANAGERS = [
  {
    at: '/usr/bin/apt-get',
    install: 'apt-get install --yes',
    names: { redis: 'redis-server', java: 'default-jre-headless' },
  },
  {
    at: '/usr/bin/dnf',
    install: 'dnf install --assumeyes',
    names: { redis: 'redis', java: 'java-21-openjdk-headless' },
  },
  { at: '/sbin/apk', install: 'apk add', names: { redis: 'redis', java: 'openjdk21-jre-headless' } },
  { at: '/opt/homebrew/bin/brew', install: 'brew install', names: { redis: 'redis', java: 'openjdk' } },
  { at: '/usr/local/bin/brew', install: 'brew install', names: { redis: 'redis', java: 'openjdk' } },
] as const;

export type Installable = 'redis' | 'java' | 'maven';

/** The command that installs these with this machine's own package manager; undefined when it has none we know. */
export function installCommand(...wanted: readonly Installable[]): string | undefined {
  const manager = MANAGERS.find(({ at }) => existsSync(at));
  if (manager === undefined) return undefined;
  const asRoot = manager.install.startsWith('brew') || process.getuid?.() === 0 ? '' : 'sudo ';
  const names = wanted.map((each) => (each === 'maven' ? 'maven' : manager.names[each]));
  return `${asRoot}${manager.install} ${names.join(' ')}`;
}
