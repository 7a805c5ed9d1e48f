/** The services that Holdfast stands on, brought up with one call. */
export { StackError, type StackErrorCode } from './errors.js';
export { silentProgress, streamProgress, type Progress, type ProgressTask } from './progress.js';
export {
  ADDRESS_VARIABLES,
  SERVICE_NAMES,
  SOURCE_KINDS,
  type ServiceName,
  type ServiceRecord,
  type SourceKind,
} from './services.js';
export {
  startServices,
  startStack,
  type RunningService,
  type RunningStack,
  type ServicePlace,
  type StackOptions,
  type StartedServices,
} from './start.js';
export { stackStatus, stopStack, type ServiceStatus, type StopOptions } from './stop.js';
