// The alerts and the dashboard ask only for metrics that exist, and every alert has its test and its line in the runbook.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dashboardJson } from '../../../appliance/docs/dashboard.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

type Alert = { readonly alert: string; readonly expr: string; readonly annotations: { readonly runbook: string } };

const path = temporaryDirectory();
const appliancePath = resolve(import.meta.dirname, '../../../appliance');
const text = (name: string): string => readFileSync(resolve(appliancePath, name), 'utf8');
const alerts = (parse(text('docs/administer/monitoring/alerts.yaml')) as { groups: readonly { rules: readonly Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const { panels } = JSON.parse(dashboardJson()) as { panels: readonly { title: string; targets?: readonly { expr: string }[] }[] };
let appliance: TestAppliance;
let known: ReadonlySet<string>;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  const { body } = await appliance.request('GET', '/v1/state/system/metrics');
  const exposed = [...String(body).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  // Metrics of what this appliance is not configured for are in the documentation.
  const documented = [
    ...text('docs/administer/monitoring.md').matchAll(/^\| `(keystored_(?:backup|shipping|workers_replaced)_\w+)`/gm),
  ].map(([, name = '']) => name);
  known = new Set([...exposed, ...documented]);
});
afterAll(() => appliance.close());

const metricsIn = (expr: string): readonly string[] => [...expr.matchAll(/\b(?:keystored|process)_\w+/g)].map(([name]) => name);
const unknownIn = (expr: string): readonly string[] => metricsIn(expr).filter((name) => !known.has(name));

test('alerts and panels name only metrics that exist', () => {
  expect(alerts.flatMap(({ alert, expr }) => unknownIn(expr).map((name) => `${alert}: ${name}`))).toEqual([]);
  const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  expect(queries.filter(({ expr }) => metricsIn(expr).length === 0)).toEqual([]);
  expect(queries.flatMap(({ title, expr }) => unknownIn(expr).map((name) => `${title}: ${name}`))).toEqual([]);
});

test('every alert has a test that fires and a line in the runbook', () => {
  type RuleTest = { readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[] };
  const { tests } = parse(text('docs/administer/monitoring/alerts.test.yaml')) as { tests: readonly RuleTest[] };
  const fired = tests.flatMap(({ alert_rule_test: cases }) => cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0));
  const names = alerts.map(({ alert }) => alert);
  expect(fired.map(({ alertname }) => alertname)).toEqual(names);
  expect([...text('docs/administer/runbook.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).toEqual(names);
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`appliance/docs/administer/runbook.md#${alert.toLowerCase()}`);
});
