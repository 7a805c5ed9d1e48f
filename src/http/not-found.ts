import type { FastifyInstance } from 'fastify';
import { ProblemError } from './errors/problem.js';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Answers what no route takes: 405 with `Allow` where the path is one of ours, else 404. Register before the routes. */
export const useNotFound = (app: FastifyInstance): void => {
  const known = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const path = known.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const one of [method].flat()) path.methods.add(one);
    known.set(url, path);
  });
  // Before the body is read: a path that is not there has no use for one.
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const [path = ''] = request.url.split('?', 1);
    const methods = [...known.values()].filter((k) => k.pattern.test(path)).flatMap((k) => [...k.methods]);
    done(methods.length === 0 ? notFound() : notAllowed(request.method, methods));
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
};

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[a-z]+/g, '[^/]+')
      .replace('*', '.*')}$`,
  );

const notFound = (): ProblemError =>
  new ProblemError('not_found', 'There is nothing at this address. /docs lists what there is.');

const notAllowed = (method: string, methods: readonly string[]): ProblemError => {
  const allow = [...new Set(methods)].sort().join(', ');
  return new ProblemError('method_not_allowed', `${method} is not for this address: ${allow}.`, {}, { allow });
};
