import { ProblemError } from './errors/problem.js';

/** Reads a time in RFC 3339 that was checked for its form; ms since 1970. Raises ProblemError `invalid_request`. */
export const timeOf = (text: string, field: string): number => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ProblemError('invalid_request', `${field} is no time that there is`, { field });
  return ms;
};
