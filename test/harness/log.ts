// A log that writes nothing, for parts that are tested outside an appliance.
import type { Log } from '../../core/base/context.ts';

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silentLog };
