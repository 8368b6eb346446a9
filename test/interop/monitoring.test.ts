// The alerts and the metrics, as Prometheus reads them (promtool).
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const monitoring = resolve(import.meta.dirname, '../../appliance/docs/administer/monitoring');

function promtool(args: readonly string[], input = ''): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: monitoring, input, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

test.each([
  ['the alerts are valid', ['check', 'rules', 'alerts.yaml']],
  ['every alert fires at its time and not before', ['test', 'rules', 'alerts.test.yaml']],
  ['the scrape configuration is valid', ['check', 'config', '--syntax-only', 'scrape.yaml']],
])('%s', (_, args) => expect(promtool(args)).toMatchObject({ status: 0 }));

test('the metrics of a daemon at work are without findings', async () => {
  const daemon = await startDaemon({ directory: path('data'), workers: 2 });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'k' });
  await daemon.request('POST', '/v1/state/keystore/transit-keys/k/encrypt', { plaintext: 'aGVsbG8=' });
  const { body } = await daemon.exchange('GET', '/v1/state/system/metrics');
  expect(promtool(['check', 'metrics'], String(body))).toEqual({ status: 0, output: '' });
  await daemon.stop();
});
