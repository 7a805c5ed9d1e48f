/** Numbers in [0, 1) that depend on the seed alone. */
export type Random = () => number;

const TWO_TO_32 = 2 ** 32;

/**
 * A seeded generator (sfc32 by Chris Doty-Humphrey, 128 bits of state): the same seed, a whole number of 32 bits, gives
 * the same numbers on every machine. For simulated traffic only; nothing secret may depend on it.
 */
export const seededRandom = (seed: number): Random => {
  let a = 0;
  let b = seed >>> 0;
  let c = 0x9e3779b9;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) >>> 0;
    counter = (counter + 1) >>> 0;
    a = (b ^ (b >>> 9)) >>> 0;
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0;
    return sum / TWO_TO_32;
  };
  // The first outputs of close seeds are alike.
  for (let i = 0; i < 16; i++) next();
  return next;
};

/** One of the items, each as likely as the others. The list must not be empty. */
export const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('Nothing can be picked from an empty list.');
  return item;
};
