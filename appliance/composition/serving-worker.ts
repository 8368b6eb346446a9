// State that the stages of a serving process share.
import type { Configuration } from '../../core/config/config.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import type { RequestGate } from '../processes/request-gate.ts';
import type { Closing } from './closing.ts';
import type { Opened } from './opening.ts';

export type ServingWorker = Pick<Opened, 'log' | 'runtime' | 'tokens' | 'configured'> & {
  readonly configuration: Configuration;
  /** number 1 also runs the background jobs and signs the heads of the audit trail, for the last time when it is `alone` */
  readonly number: number;
  readonly channel: SupervisorChannel;
  readonly alone: Promise<void>;
  readonly closing: Closing;
  readonly gate: RequestGate;
  /** Resolved when no new connections are accepted: both listeners close at the same time, because one after the other slow clients would keep
   * them for twice the grace. */
  readonly retirement: PromiseWithResolvers<void>;
  /** every stage has ended */
  isServing: boolean;
  /** requests that wait for their own seal */
  sealers: number;
};
