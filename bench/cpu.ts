import { readFileSync, readdirSync } from 'node:fs';

/** The kernel counts CPU time in hundredths of a second (USER_HZ) on every architecture that Node runs on. */
const TICK_US = 10_000;

interface Usage {
  readonly parent: number;
  /** Own time, and that of children which have ended and were waited for. */
  readonly ticks: number;
}

/** Takes a /proc/PID/stat apart; the program's name in it may hold blanks and brackets. */
export const parseStat = (stat: string): Usage | undefined => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // From the third field on: state, parent, … and from the fourteenth: utime, stime, cutime, cstime.
  const numbers = [fields[1], ...fields.slice(11, 15)].map(Number);
  const [parent, ...times] = numbers;
  if (parent === undefined || times.length !== 4 || numbers.some((n) => !Number.isFinite(n))) return undefined;
  return { parent, ticks: times.reduce((sum, ticks) => sum + ticks, 0) };
};

const readAll = (): Map<number, Usage> => {
  const all = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const usage = parseStat(readFileSync(`/proc/${name}/stat`, 'utf8'));
      if (usage !== undefined) all.set(Number(name), usage);
    } catch {
      // It ended between being listed and being read; its time is now its parent's.
    }
  }
  return all;
};

/** CPU time in µs, user and system, of a process and all that descends from it; undefined where the kernel does not tell. */
export const treeCpuUs = (pid: number): number | undefined => {
  let all: Map<number, Usage>;
  try {
    all = readAll();
  } catch {
    return undefined;
  }
  if (!all.has(pid)) return undefined;
  const within = (candidate: number): boolean => {
    for (let at: number | undefined = candidate; at !== undefined && at > 0; at = all.get(at)?.parent)
      if (at === pid) return true;
    return false;
  };
  let ticks = 0;
  for (const [candidate, usage] of all) if (within(candidate)) ticks += usage.ticks;
  return ticks * TICK_US;
};

/** CPU time of this process in µs. */
export const ownCpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
