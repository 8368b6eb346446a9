// Gauges of one reading, which is taken once for each request for metrics.
import type { Gauge, GaugeSample } from './plugin.ts';

/** A gauge of a reading; without `labels` it has one sample, or none if the value is undefined. */
export type Shown<R> = Pick<Gauge, 'kind' | 'name' | 'help'> &
  (
    | { readonly labels: readonly string[]; readonly samples: (reading: R) => readonly GaugeSample[] }
    | { readonly labels?: never; readonly value: (reading: R) => number | undefined }
  );

/** Makes the gauges of a reading. */
export function gaugesOf<R>(read: () => R | Promise<R>, shown: readonly Shown<R>[]): readonly Gauge[] {
  const readings = new WeakMap<object, R | Promise<R>>();
  const readOnce = (measurement: object): R | Promise<R> => {
    const reading = readings.get(measurement) ?? read();
    readings.set(measurement, reading);
    return reading;
  };
  return shown.map(({ kind = 'gauge', name, help, ...one }) => ({
    ...{ kind, name, help, labels: one.labels ?? [] },
    async measure(tenants) {
      const reading = await readOnce(tenants);
      if (one.labels !== undefined) return one.samples(reading);
      const value = one.value(reading);
      return value === undefined ? [] : [{ labels: {}, value }];
    },
  }));
}
