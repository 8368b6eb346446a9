// The Grafana dashboard, from a table of its panels (npm run generate docs writes dashboard.json).

/** `$instance` is the variable of the dashboard; `legend` names the series. */
type Query = { readonly expr: string; readonly legend: string };

type Panel = {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  /** one value in place of a graph; with `low` or `high`, red below or above it */
  readonly value?: { readonly low?: number; readonly high?: number };
};

type Row = { readonly title: string; readonly panels: readonly Panel[] };

const own = 'instance=~"$instance"';

/** `rate` of a counter or of the buckets of a histogram. */
const rate = (metric: string, labels = ''): string => `rate(${metric}{${own}${labels}}[$__rate_interval])`;

const quantile = (share: number, histogram: string, by = ''): string =>
  `histogram_quantile(${share}, sum by (le${by}) (${rate(`${histogram}_bucket`)}))`;

const percentiles = (histogram: string): readonly Query[] =>
  [0.5, 0.9, 0.99].map((share) => ({ expr: quantile(share, histogram), legend: `p${share * 100}` }));

const rows: readonly Row[] = [
  {
    title: 'Now',
    panels: [
      {
        title: 'Tokens that work',
        description: 'Tokens of the HSM that work in every worker; red when one does not.',
        unit: 'none',
        queries: [{ expr: `min(keystored_hsm_token_up{${own}})`, legend: 'up' }],
        value: { low: 1 },
      },
      {
        title: 'Audit trail',
        description: '1 while every worker can write it. Otherwise changes and uses of keys are refused.',
        unit: 'none',
        queries: [{ expr: `min(keystored_audit_writable{${own}})`, legend: 'writable' }],
        value: { low: 1 },
      },
      {
        title: 'Requests',
        description: 'Answered by the management API and by EST.',
        unit: 'reqps',
        queries: [{ expr: `sum(${rate('keystored_http_requests_total')})`, legend: 'requests' }],
        value: {},
      },
      {
        title: 'Errors',
        description: 'Share of answers with a status from 500 up.',
        unit: 'percentunit',
        queries: [
          {
            expr: `(sum(${rate('keystored_http_requests_total', ',status=~"5.."')}) or vector(0)) / sum(${rate('keystored_http_requests_total')})`,
            legend: 'errors',
          },
        ],
        value: { high: 0.01 },
      },
      {
        title: 'First certificate to end',
        description: 'Time until the first certificate of a listener or a CA ends.',
        unit: 's',
        queries: [{ expr: `min(keystored_certificate_not_after_seconds{${own}}) - time()`, legend: 'left' }],
        value: { low: 14 * 86_400 },
      },
      {
        title: 'Last scheduled backup',
        description: 'Age of the oldest last backup; empty where none is scheduled.',
        unit: 's',
        queries: [{ expr: `time() - min(keystored_backup_last_success_timestamp_seconds{${own}})`, legend: 'age' }],
        value: { high: 2 * 86_400 },
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'By status',
        description: 'Answers a second.',
        unit: 'reqps',
        queries: [{ expr: `sum by (status) (${rate('keystored_http_requests_total')})`, legend: '{{status}}' }],
      },
      {
        title: 'By route',
        description: 'The ten routes with the most requests.',
        unit: 'reqps',
        queries: [{ expr: `topk(10, sum by (method, route) (${rate('keystored_http_requests_total')}))`, legend: '{{method}} {{route}}' }],
      },
      {
        title: 'Time to the answer',
        description: 'From the head of a request to its answer.',
        unit: 's',
        queries: percentiles('keystored_http_request_seconds'),
      },
      {
        title: 'Connections',
        description: 'By what they do, and how many a listener takes.',
        unit: 'none',
        queries: [
          { expr: `sum by (listener, state) (keystored_connections{${own}})`, legend: '{{listener}} {{state}}' },
          { expr: `sum by (listener) (keystored_connections_limit{${own}})`, legend: '{{listener}} limit' },
        ],
      },
      {
        title: 'Slowest routes',
        description: '99th percentile of the ten slowest routes.',
        unit: 's',
        queries: [
          { expr: `topk(10, ${quantile(0.99, 'keystored_http_request_seconds', ', method, route')})`, legend: '{{method}} {{route}}' },
        ],
      },
    ],
  },
  {
    title: 'HSM',
    panels: [
      {
        title: 'Operations',
        description: 'Calls to the tokens a second.',
        unit: 'ops',
        queries: [{ expr: `sum by (token, operation) (${rate('keystored_hsm_operations_total')})`, legend: '{{token}} {{operation}}' }],
      },
      {
        title: 'Time of the token',
        description: '99th percentile of the time a token takes, without waiting for a session.',
        unit: 's',
        queries: [{ expr: quantile(0.99, 'keystored_hsm_operation_seconds', ', token, operation'), legend: '{{token}} {{operation}}' }],
      },
      {
        title: 'Sessions',
        description: 'If all are busy for long, the token is the bottleneck.',
        unit: 'none',
        queries: [
          { expr: `sum by (token, state) (keystored_hsm_sessions{${own}})`, legend: '{{token}} {{state}}' },
          { expr: `sum by (token) (keystored_hsm_waiting_calls{${own}})`, legend: '{{token}} waiting calls' },
        ],
      },
      {
        title: 'Canary',
        description: 'A random number, an encryption and a decryption in every token, every 15 seconds.',
        unit: 's',
        queries: percentiles('keystored_hsm_canary_seconds'),
      },
      {
        title: 'State of the tokens',
        description: 'Workers in which a token is in a state.',
        unit: 'none',
        queries: [
          { expr: `sum by (instance, token, state) (keystored_hsm_token_state{${own}})`, legend: '{{instance}} {{token}} {{state}}' },
        ],
      },
      {
        title: 'Loaded keys',
        description: 'Over all workers.',
        unit: 'none',
        queries: [{ expr: `sum by (token) (keystored_hsm_loaded_keys{${own}})`, legend: '{{token}}' }],
      },
    ],
  },
  {
    title: 'Audit trail and SIEM',
    panels: [
      {
        title: 'Time to disk',
        description: 'Until audit records are on disk; answers wait for it.',
        unit: 's',
        queries: percentiles('keystored_audit_write_seconds'),
      },
      {
        title: 'Waiting records',
        description: 'Records that are not on disk yet.',
        unit: 'none',
        queries: [{ expr: `keystored_audit_waiting_records{${own}}`, legend: '{{instance}}' }],
      },
      {
        title: 'Records that a SIEM lacks',
        description: 'Not yet confirmed, by destination.',
        unit: 'none',
        queries: [{ expr: `keystored_shipping_lag_records{${own}}`, legend: '{{instance}} {{destination}}' }],
      },
      {
        title: 'Dropped and refused by a SIEM',
        description: 'Records a second that will not arrive.',
        unit: 'ops',
        queries: [
          { expr: rate('keystored_shipping_dropped_records_total'), legend: '{{instance}} {{destination}} dropped' },
          { expr: rate('keystored_shipping_rejected_records_total'), legend: '{{instance}} {{destination}} refused' },
        ],
      },
    ],
  },
  {
    title: 'Keys, certificates, backups',
    panels: [
      {
        title: 'Keys',
        description: 'Transit keys by tenant and cipher.',
        unit: 'none',
        queries: [{ expr: `sum by (tenant, cipher) (keystored_transit_keys{${own}})`, legend: '{{tenant}} {{cipher}}' }],
      },
      {
        title: 'Certificates',
        description: 'Time until they end.',
        unit: 's',
        queries: [{ expr: `keystored_certificate_not_after_seconds{${own}} - time()`, legend: '{{kind}} {{tenant}}/{{name}}' }],
      },
      {
        title: 'Size of backups',
        description: 'Of the last scheduled one.',
        unit: 'bytes',
        queries: [{ expr: `keystored_backup_last_size_bytes{${own}}`, legend: '{{instance}}' }],
      },
      {
        title: 'Duration of backups',
        description: 'Of the last scheduled one.',
        unit: 's',
        queries: [{ expr: `keystored_backup_last_duration_seconds{${own}}`, legend: '{{instance}}' }],
      },
    ],
  },
  {
    title: 'Machine',
    panels: [
      {
        title: 'Disk',
        description: 'Free room in the file system of the data directory, and the size of the store.',
        unit: 'bytes',
        queries: [
          { expr: `keystored_disk_free_bytes{${own}}`, legend: '{{instance}} free' },
          { expr: `keystored_store_bytes{${own}}`, legend: '{{instance}} store' },
        ],
      },
      {
        title: 'Processor time',
        description: 'Cores in use by the workers, without the processes of their tokens.',
        unit: 'none',
        queries: [{ expr: rate('process_cpu_seconds_total', ',job="keystored"'), legend: '{{instance}}' }],
      },
      {
        title: 'Memory',
        description: 'Of the workers, without the processes of their tokens.',
        unit: 'bytes',
        queries: [{ expr: `process_resident_memory_bytes{${own},job="keystored"}`, legend: '{{instance}}' }],
      },
      {
        title: 'Clock',
        description: 'Difference to the clock of Prometheus.',
        unit: 's',
        queries: [{ expr: `abs(keystored_clock_seconds{${own}} - timestamp(keystored_clock_seconds{${own}}))`, legend: '{{instance}}' }],
      },
    ],
  },
];

const columns = 24;
const datasource = { type: 'prometheus', uid: '${DS}' };

/** The dashboard as Grafana 10 and later import it, by hand or from a file. */
export function dashboardJson(): string {
  let y = 0;
  let id = 0;
  const panels = rows.flatMap(({ title, panels: inRow }) => {
    const heading = { id: ++id, type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y: y++, w: columns, h: 1 } };
    const isValues = inRow.every(({ value }) => value !== undefined);
    const [perLine, h] = isValues ? [inRow.length, 4] : [2, 8];
    const w = columns / perLine;
    const placed = inRow.map((panel, index) => ({
      id: ++id,
      ...describe(panel),
      gridPos: { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * h, w, h },
    }));
    y += Math.ceil(inRow.length / perLine) * h;
    return [heading, ...placed];
  });
  const dashboard = {
    id: null,
    uid: 'keystored',
    title: 'keystored',
    tags: ['keystored'],
    schemaVersion: 39,
    version: 0,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        { name: 'DS', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          ...{ name: 'instance', label: 'Appliance', type: 'query', datasource },
          query: { query: 'label_values(keystored_workers, instance)', refId: 'instance' },
          ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
        },
      ],
    },
    annotations: { list: [] },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function describe({ title, description, unit, queries, value }: Panel): object {
  return {
    type: value === undefined ? 'timeseries' : 'stat',
    ...{ title, description, datasource },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: 'ABCDEFGH'[index],
      datasource,
      expr,
      legendFormat: legend,
    })),
    fieldConfig: {
      defaults: { unit, ...(value === undefined ? { min: 0 } : { thresholds: { mode: 'absolute', steps: stepsOf(value) } }) },
      overrides: [],
    },
    options:
      value === undefined
        ? { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } }
        : { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value', graphMode: 'area' },
  };
}

/** Grafana colours a value by the last step at or below it; the first step is for all smaller ones. */
function stepsOf({ low, high }: NonNullable<Panel['value']>): readonly object[] {
  if (low !== undefined)
    return [
      { color: 'red', value: null },
      { color: 'green', value: low },
    ];
  return [{ color: 'green', value: null }, ...(high === undefined ? [] : [{ color: 'red', value: high }])];
}
