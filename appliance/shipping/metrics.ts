// Metrics of shipping: one series for each destination, from its place on the disk and from the shipper.
import { gaugesOf } from '../../core/plugin/gauges.ts';
import type { Gauge } from '../../core/plugin/plugin.ts';
import { type DestinationState, type ReportParts, reportShipping } from './report.ts';

const series: readonly (readonly [name: string, help: string, value: (state: DestinationState) => number])[] = [
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

/** Without destinations they have no samples. Sums end in `_total`. */
export function shippingGauges(parts: ReportParts): readonly Gauge[] {
  return gaugesOf(
    () => reportShipping(parts),
    series.map(([name, help, value]) => ({
      kind: name.endsWith('_total') ? ('counter' as const) : ('gauge' as const),
      ...{ name, help, labels: ['destination'] },
      samples: (states: readonly DestinationState[]) =>
        states.map((state) => ({ labels: { destination: state.name }, value: value(state) })),
    })),
  );
}
