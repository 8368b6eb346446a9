// Service of the plugin `enrolment`: the listener of protocols by which devices enrol, beside EST, which has its own.
import type { Handler } from '../../http/pipeline.ts';
import { defineService } from '../service.ts';

/** Provided by the plugin `enrolment`. */
export const enrolmentListenerService = defineService<EnrolmentListener>('enrolment-listener');

export type EnrolmentListener = {
  /** Serves requests whose path begins with a segment. Called by the plugin of a protocol while it is provisioned. */
  serve(segment: string, handler: Handler): void;
  /** Origins of the listener, as in `https://keystore.example:4666`; none if it is not configured. */
  origins(): readonly string[];
};
