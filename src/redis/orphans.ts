import type { Orphans, SpeculationId } from '../core/ports.js';
import { nameOf, readName, textAt, textsFrom } from './answers.js';
import { faultOf } from './errors.js';
import type { Masters } from './masters.js';

/** A speculation that nobody answered for within this time is given back, ms on Redis's clock (design, section 2). */
export const ORPHAN_AGE_MS = 30_000;

const PAGE_SIZE = 200;
/** Pages looked at in one call: what is beyond is found by the next. */
const PAGES_MAX = 50;

/** Finds and gives back speculations that nobody answered for. */
export class RedisOrphans implements Orphans {
  constructor(
    private readonly masters: Masters,
    private readonly ageMs: number = ORPHAN_AGE_MS,
  ) {}

  async orphans(partition: number, limit: number): Promise<SpeculationId[]> {
    const found = new Set<string>();
    let cursor = '0';
    for (let page = 0; page < PAGES_MAX && found.size < limit; page++) {
      const route = this.masters.route(partition);
      if (route === undefined) break;
      try {
        const args = { cursor, count: PAGE_SIZE.toString(), age: this.ageMs.toString() };
        const { rest } = await route.connection.run('orphans', route.keys, args);
        for (const name of textsFrom(rest, 1)) found.add(name);
        cursor = textAt(rest, 0);
      } catch (error) {
        this.masters.note(faultOf(error), 'orphans');
        break;
      }
      if (cursor === '0') break;
    }
    return [...found].slice(0, limit).map(readName);
  }

  async voidOrphan(partition: number, tenant: string, id: string): Promise<boolean> {
    const route = this.masters.route(partition);
    if (route === undefined) return false;
    try {
      const args = { id: nameOf(tenant, id), age: this.ageMs.toString() };
      const { word } = await route.connection.run('void', route.keys, args);
      return word === 'released';
    } catch (error) {
      this.masters.note(faultOf(error), 'void');
      return false;
    }
  }
}
