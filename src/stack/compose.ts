/** Services in containers, by Docker Compose and this package's docker-compose.yml. */
import type { ContainerSource } from './candidates.js';
import { Unusable } from './local-program.js';

export const composeContainers: ContainerSource = {
  start: () => Promise.reject(new Unusable('no Docker engine answers')),
};
