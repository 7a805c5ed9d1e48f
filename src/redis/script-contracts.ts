import type { KeyName } from './keys.js';

/** What a script is called with. A test holds these names to the header and the first lines of each file in lua/. */
interface Contract {
  readonly keys: readonly KeyName[];
  readonly args: readonly string[];
  /** More arguments follow the named ones. */
  readonly more: boolean;
}

/** Every script, by the name of its file in lua/. */
export const SCRIPTS = {
  hold: {
    keys: ['meta', 'accounts', 'specs', 'holds', 'models'],
    args: ['id', 'epoch', 'inc', 'position', 'deadline', 'policy', 'model', 'level', 'attempt', 'fingerprint', 'count'],
    more: true,
  },
  apply: {
    keys: ['meta', 'accounts', 'specs', 'holds', 'closed', 'models'],
    args: ['inc', 'first', 'prev', 'retention', 'keep'],
    more: true,
  },
  release: { keys: ['meta', 'accounts', 'specs'], args: ['id', 'attempt'], more: false },
  settle: { keys: ['meta', 'accounts', 'specs'], args: ['id', 'position'], more: false },
  void: { keys: ['meta', 'accounts', 'specs'], args: ['id', 'age'], more: false },
  orphans: { keys: ['specs'], args: ['cursor', 'count', 'age'], more: false },
  epoch: { keys: ['meta'], args: ['epoch'], more: false },
  ready: { keys: ['meta'], args: ['epoch', 'head'], more: false },
  models: { keys: ['models'], args: [], more: true },
  info: { keys: ['meta', 'accounts', 'specs', 'holds', 'closed'], args: [], more: false },
  sample: { keys: ['meta', 'accounts', 'specs'], args: [], more: true },
  rebuild_begin: { keys: ['meta', 'specs', 'holds', 'closed', 'models'], args: ['token'], more: false },
  rebuild_drop: { keys: ['meta', 'accounts'], args: ['token', 'count'], more: false },
  rebuild_chunk: {
    keys: ['meta', 'accounts', 'specs', 'holds', 'closed', 'models'],
    args: ['token', 'step'],
    more: true,
  },
  rebuild_end: { keys: ['meta', 'accounts', 'specs'], args: ['token', 'steps', 'cp', 'hash', 'inc'], more: false },
} as const satisfies Readonly<Record<string, Contract>>;

export type ScriptName = keyof typeof SCRIPTS;
export const SCRIPT_NAMES = Object.keys(SCRIPTS) as ScriptName[];

/** The named arguments of a script. All are texts: an amount must not become a number on its way. */
export type ScriptArgs<N extends ScriptName> = Readonly<Record<(typeof SCRIPTS)[N]['args'][number], string>>;
