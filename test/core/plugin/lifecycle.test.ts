// The life cycle of plugins: what the registry refuses, the order of use, and that a failure at any step leaves nothing running.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { type LifecycleOptions, type RunningPlugins, startPlugins } from '../../../core/plugin/lifecycle.ts';
import { type AnyPlugin, definePlugin, type Plugin, type PluginInstance } from '../../../core/plugin/plugin.ts';
import { defineService, provide } from '../../../core/plugin/service.ts';
import { StartError } from '../../../core/plugin/registry.ts';
import { Secret } from '../../../core/base/secret.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import { TestClock } from '../../harness/clock.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail, quiet } from '../audit/trail.ts';

const temporary = temporaryDirectory();
let hsm: Hsm;
let store: OpenStore;
let options: LifecycleOptions;

beforeAll(async () => {
  hsm = await openHsm(testHsmConfig(await makeSoftToken(temporary('token'))));
  store = await openStore({ directory: temporary('store'), dataKey: new Secret(new Uint8Array(32)) });
  const audit = await openTrail(temporary('audit'));
  options = { store, hsm, audit, log: quiet, clock: new TestClock(), configurationOf: (name) => ({ of: name }) };
});

afterAll(async () => {
  await store.close();
  await hsm.close();
});

const noted: string[] = [];

function failing(): never {
  throw new Error('no luck');
}

/** A plugin that records every step of its life cycle. */
function plugin(name: string, parts: Partial<Plugin<unknown>> = {}, instance: PluginInstance = {}): AnyPlugin {
  const note = (step: string) => (): void => void noted.push(`${step} ${name}`);
  return definePlugin<unknown>({
    name,
    contract: 1,
    config: z.unknown(),
    provision() {
      noted.push(`provision ${name}`);
      return { validate: note('validate'), start: note('start'), stop: note('stop'), ...instance };
    },
    ...parts,
  });
}

async function start(...plugins: AnyPlugin[]): Promise<RunningPlugins> {
  noted.length = 0;
  return startPlugins(plugins, options);
}

describe('the registry refuses', () => {
  const [a, b] = [defineService('a'), defineService('b')];
  test.each<[string, () => AnyPlugin[], string]>([
    ['a bad name', () => [plugin('Transit')], 'plugin Transit, registry: the name must be a lower-case word other than core'],
    ['the name of the core', () => [plugin('core')], 'plugin core, registry: the name must be'],
    ['two of one name', () => [plugin('a'), plugin('a')], 'plugin a, registry: two plugins have this name'],
    ['another contract', () => [plugin('a', { contract: 2 as 1 })], 'plugin a, registry: made for contract 2, this core implements 1'],
    [
      'an error code of the core',
      () => [plugin('a', { errors: { 'not-found': { status: 404, title: '', when: '', detail: '' } } })],
      'plugin a, registry: error code not-found belongs to core',
    ],
    [
      'a service with two owners',
      () => [plugin('a', { provides: [defineService('s')] }), plugin('b', { provides: [defineService('s')] })],
      'plugin b, registry: service s belongs to a',
    ],
    [
      'a service without a provider',
      () => [plugin('a', { uses: [defineService('s')] })],
      'plugin a, registry: uses the service s, which no plugin provides',
    ],
    [
      'a circle',
      () => [plugin('a', { uses: [b], provides: [a] }), plugin('b', { uses: [a], provides: [b] })],
      'plugin a, registry: uses itself',
    ],
    [
      'a key type no token offers',
      () => [plugin('a', { needs: ['aes-256', 'ml-dsa-65'] })],
      'plugin a, registry: no configured token offers CKM_ML_DSA',
    ],
  ])('%s', async (_what, plugins, message) => {
    await expect(start(...plugins())).rejects.toThrow(message);
    await expect(start(...plugins())).rejects.toBeInstanceOf(StartError);
    expect(noted).toEqual([]);
  });
});

test('plugins are started in order of use and stopped in reverse, once', async () => {
  const greeting = defineService<() => string>('greeting');
  const user = plugin('user', {
    uses: [greeting],
    provision(context) {
      noted.push(`provision user: ${context.service(greeting)()}, config ${JSON.stringify(context.config)}`);
      expect(() => context.service(defineService('other'))).toThrow(/without naming it under uses/);
      return { stop: () => void noted.push('stop user') };
    },
  });
  const running = await start(user, plugin('giver', { provides: [greeting] }, { services: [provide(greeting, () => 'hello')] }));
  await running.stop();
  await running.stop();
  expect(noted).toEqual([
    'provision giver',
    'provision user: hello, config {"of":"user"}',
    'validate giver',
    'start giver',
    'stop user',
    'stop giver',
  ]);
});

test('the compiler refuses an implementation that is not of the type of its service', () => {
  // @ts-expect-error -- a number is no function
  expect(provide(defineService<() => string>('greeting'), 5).implementation).toBe(5);
});

test('each plugin has its own part of the store, migrated before it is provisioned', async () => {
  const provision: Plugin<unknown>['provision'] = (context) => {
    noted.push(String(context.store.table('things').get(['made'])));
    return {};
  };
  const migrations = [
    { version: 1, level: 1, describe: 'make', run: (tx, view) => tx.put(view.table<string>('things'), ['made'], 'by mover') },
  ] satisfies Plugin<unknown>['migrations'];
  const running = await start(plugin('mover', { provision, migrations }), plugin('other', { provision }));
  expect(noted).toEqual(['by mover', 'undefined']);
  await running.stop();
});

describe('a failure', () => {
  test.each<[string, AnyPlugin, string[]]>([
    ['migrations', plugin('bad', { migrations: [{ version: 1, level: 1, describe: 'x', run: failing }] }), ['provision good']],
    ['provision', plugin('bad', { provision: failing }), ['provision good']],
    ['provision', plugin('bad', { provides: [defineService('s')] }), ['provision good', 'provision bad']],
    ['validate', plugin('bad', {}, { validate: failing }), ['provision good', 'provision bad', 'validate good']],
    ['start', plugin('bad', {}, { start: failing }), ['provision good', 'provision bad', 'validate good', 'validate bad', 'start good']],
  ])('in %s names step, plugin and reason, and stops what was started, last first', async (step, bad, before) => {
    await expect(start(plugin('good'), bad)).rejects.toThrow(new RegExp(`^plugin bad, ${step}: `));
    const stopped = noted.slice(noted.findIndex((one) => one.startsWith('stop')));
    expect(noted.slice(0, -stopped.length)).toEqual(before);
    expect(stopped.at(-1)).toBe('stop good');
  });

  test('to stop does not prevent the others from stopping', async () => {
    const running = await start(plugin('first'), plugin('second', {}, { stop: failing }), plugin('third'));
    await running.stop();
    expect(noted.slice(-2)).toEqual(['stop third', 'stop first']);
  });
});

test('the jobs, errors and findings of all plugins are collected', async () => {
  const job = { name: 'j', everySeconds: 1, run: () => Promise.resolve() };
  const row = { status: 400, title: 'T', when: 'w', detail: 'd' };
  const running = await start(
    plugin('a', { errors: { 'a-error': row } }, { jobs: [job], check: () => [{ where: 'a/1', problem: 'broken' }] }),
    plugin('b', {}, { check: () => Promise.resolve([{ where: 'b/1', problem: 'gone' }]) }),
  );
  expect(running.jobs).toEqual([job]);
  expect(running.errors).toEqual([{ 'a-error': row }]);
  expect(await running.check()).toEqual([
    { where: 'a/1', problem: 'broken' },
    { where: 'b/1', problem: 'gone' },
  ]);
  await running.stop();
});
