// Loads as figures: the medians of their rounds, and as cells of a table.
import type { ActionRow } from '../../../appliance/docs/performance/figures.ts';
import type { MeasuredLoad } from './load.ts';
import { medianOf } from './rounds.ts';

type OwnLoad = ActionRow['appliance'];
type OtherLoad = ActionRow['echo'];
type OwnMeasured = MeasuredLoad<'service' | 'token'>;

/** Figures of another server; processor time is that of all its processes. `items`: what a request has, for figures of items. */
export function summarise(loads: readonly MeasuredLoad<string>[], items = 1): OtherLoad {
  return {
    perSecond: medianOf(loads, ({ perSecond }) => perSecond * items),
    p50Ms: medianOf(loads, ({ p50 }) => p50),
    p99Ms: medianOf(loads, ({ p99 }) => p99),
    micros: medianOf(loads, (load) => microsOf(load) / items),
  };
}

/** The same of the appliance, with the share of the processes that hold the token. */
export function summariseOwn(loads: readonly OwnMeasured[], items = 1): OwnLoad {
  return { ...summarise(loads, items), tokenMicros: medianOf(loads, ({ micros }) => micros.token / items) };
}

/** One round of both; without OpenBao's program there is no turn of it. */
type Round = { readonly appliance: OwnMeasured; readonly openBao: OwnMeasured | undefined };

/** Figures of the appliance and of OpenBao, and the ratios of their turns. */
export function summariseBoth(rounds: readonly Round[]) {
  const compared = rounds.flatMap(({ appliance, openBao }) => (openBao === undefined ? [] : [{ appliance, openBao }]));
  const own = { appliance: summariseOwn(rounds.map(({ appliance }) => appliance)) };
  if (compared.length === 0) return own;
  return {
    ...own,
    openBao: summarise(compared.map(({ openBao }) => openBao)),
    rateToOpenBao: medianOf(compared, ({ appliance, openBao }) => appliance.perSecond / openBao.perSecond),
    timeToOpenBao: medianOf(compared, ({ appliance, openBao }) => microsOf(openBao) / microsOf(appliance)),
  };
}

/** Processor time of a request, over all processes. */
export function microsOf({ micros }: MeasuredLoad<string>): number {
  return Object.values(micros).reduce((sum, one) => sum + one, 0);
}

/** Heads of the cells that formatBoth() makes. */
export const bothHeads = [
  ...['/s', 'p50 ms', 'p99 ms', 'µs', 'of them token', 'OpenBao /s', 'p50 ms', 'p99 ms', 'µs', 'rate to OpenBao', 'time to OpenBao'],
];

/** Cells of both and of their ratios. */
export function formatBoth(both: Pick<ActionRow, 'appliance' | 'openBao' | 'rateToOpenBao' | 'timeToOpenBao'>): readonly string[] {
  return [
    ...[...formatLoad(both.appliance), both.appliance.tokenMicros.toFixed(1), ...formatLoad(both.openBao)],
    ...[formatRatio(both.rateToOpenBao), formatRatio(both.timeToOpenBao)],
  ];
}

/** Cells: rate, p50, p99, processor time. */
export function formatLoad(load: OtherLoad | undefined): readonly string[] {
  if (load === undefined) return ['-', '-', '-', '-'];
  return [load.perSecond.toFixed(0), load.p50Ms.toFixed(2), load.p99Ms.toFixed(2), load.micros.toFixed(1)];
}

/** A ratio, where there is one. */
export function formatRatio(value: number | undefined): string {
  return value?.toFixed(2) ?? '-';
}
