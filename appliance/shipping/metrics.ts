// Metrics of shipping: one series for each destination, from its place on the disk and from the shipper.
import { Counter, Gauge, type Registry } from 'prom-client';
import { type DestinationState, type ReportParts, reportShipping } from './report.ts';

const gauges: readonly (readonly [name: string, help: string, value: (state: DestinationState) => number])[] = [
  ['keystored_shipping_connected', '1 while the receiver takes records', ({ connected }) => (connected ? 1 : 0)],
  [
    'keystored_shipping_blocking',
    '1 while changes and uses of keys are refused because of the receiver',
    ({ blocking }) => (blocking ? 1 : 0),
  ],
  ['keystored_shipping_lag_records', 'Records of the audit trail that the receiver has not confirmed', ({ lagRecords }) => lagRecords],
  ['keystored_shipping_lag_bytes', 'Octets of the audit trail that the receiver has not confirmed', ({ lagBytes }) => lagBytes],
  ['keystored_shipping_lag_seconds', 'Age of the oldest record that the receiver has not confirmed', ({ lagSeconds }) => lagSeconds],
  ['keystored_shipping_max_lag_bytes', 'Octets that the receiver may lack before on-lag decides', ({ maxLagBytes }) => maxLagBytes],
];

const counters: readonly (readonly [name: string, help: string, value: (state: DestinationState) => number])[] = [
  ['keystored_shipping_sent_records_total', 'Records that the receiver has confirmed', ({ sent }) => sent],
  ['keystored_shipping_resent_records_total', 'Records sent again, because nothing said that they had arrived', ({ resent }) => resent],
  [
    'keystored_shipping_dropped_records_total',
    'Records of the audit trail that were removed before they were sent',
    ({ dropped }) => dropped,
  ],
  [
    'keystored_shipping_dropped_log_files_total',
    'Files of logs that were removed before they were read',
    ({ droppedLogFiles }) => droppedLogFiles,
  ],
  ['keystored_shipping_rejected_records_total', 'Records that the receiver refuses for what they are', ({ rejected }) => rejected],
  ['keystored_shipping_errors_total', 'Failures of the connection or the receiver', ({ errors }) => errors],
];

/** Adds the series to a registry; without destinations they have no samples. */
export async function measureShipping(registry: Registry, parts: ReportParts): Promise<void> {
  const states = await reportShipping(parts);
  const options = { labelNames: ['destination'], registers: [registry] };
  for (const [name, help, value] of gauges) {
    const gauge = new Gauge({ name, help, ...options });
    for (const state of states) gauge.set({ destination: state.name }, value(state));
  }
  for (const [name, help, value] of counters) {
    const counter = new Counter({ name, help, ...options });
    for (const state of states) counter.inc({ destination: state.name }, value(state));
  }
}
