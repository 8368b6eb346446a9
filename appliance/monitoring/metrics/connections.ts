// Metrics of the connections of this process: their number and its limit, and the number closed from here.
import { Counter, Gauge, type Metric } from 'prom-client';
import type { Listener } from '../../../core/http/listener/listeners.ts';

export type ConnectionMetrics = {
  readonly metrics: readonly Metric[];
  /** Counts the connections of a listener. */
  follow(listener: string, connections: Listener['connections']): void;
};

/** Metrics that are read on request from the listeners that are followed. */
export function connectionMetrics(): ConnectionMetrics {
  const followed = new Map<string, Listener['connections']>();
  return {
    metrics: [
      new Gauge({
        name: 'keystored_connections',
        help: 'Connections of a listener by state: before the end of the handshake, idle, with a request under way',
        labelNames: ['listener', 'state'],
        registers: [],
        collect() {
          for (const [listener, { counts }] of followed)
            for (const [state, count] of Object.entries(counts)) this.set({ listener, state }, count);
        },
      }),
      new Gauge({
        name: 'keystored_connections_limit',
        help: 'Connections that a listener takes before it closes some for others',
        labelNames: ['listener'],
        registers: [],
        collect() {
          for (const [listener, { limits }] of followed) this.set({ listener }, limits.open);
        },
      }),
      new Counter({
        name: 'keystored_connections_closed_total',
        help: 'Connections that a listener has closed: for others, because the handshake took too long, or because nobody read the answer',
        labelNames: ['listener', 'reason'],
        registers: [],
        collect() {
          this.reset();
          for (const [listener, { closed }] of followed)
            for (const [reason, count] of Object.entries(closed)) this.inc({ listener, reason }, count);
        },
      }),
    ],
    follow: (listener, connections) => void followed.set(listener, connections),
  };
}
