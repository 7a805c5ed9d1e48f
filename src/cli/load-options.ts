/** Options that the commands share which play requests. */
import { randomBytes } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import { parseSpeed } from '../traces/index.js';
import type { Speed } from '../traces/index.js';

/** A commander parser for whole numbers in a range. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };

/** `--speed`: read by parseSpeed; as fast as can be unless set. */
export const speedOption = (): Option =>
  new Option('--speed <speed>', 'max, or how many times faster than recorded: 1, 20, 0.5')
    .default('max' satisfies Speed)
    .argParser((text): Speed => {
      try {
        return parseSpeed(text);
      } catch (error) {
        throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
      }
    });

/** `--prices`: a file for loadPrices. */
export const pricesOption = (): Option =>
  new Option('--prices <file>', 'prices in LiteLLM’s format (default: those that come with Holdfast)');

/** A name for one run, so that its accounts and ids are new: `demo-1f9c0a3b`. */
export const runName = (what: string): string => `${what}-${randomBytes(4).toString('hex')}`;

/** Micro-dollars as people read them: `$1,234.567890`. */
export const dollars = (micro: bigint): string => {
  const sign = micro < 0n ? '-' : '';
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0');
  const whole = digits.slice(0, -6).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${sign}$${whole}.${digits.slice(-6)}`;
};
