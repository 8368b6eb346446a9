// Searches that examine many objects take turns with each other and with everything else.
import { expect, test } from 'vitest';
import { walk } from '../../../plugins/kmip/objects/walks.ts';
import { codeOf } from './harness.ts';

const place = (tenantId: string, id: string, client?: string) => ({ tenantId, space: { id }, ...(client === undefined ? {} : { client }) });

test('one step is done in a turn of the event loop, tenants alternate, and searches of a space follow each other', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const steps: { readonly who: string; readonly turn: number }[] = [];
  const search = (who: string, tenant: string, space: string) => {
    let left = 3;
    return walk(place(tenant, space), undefined, () => {
      steps.push({ who, turn });
      return --left === 0;
    });
  };
  await Promise.all([search('a1', 'a', 's'), search('a2', 'a', 's'), search('a3', 'a', 't'), search('b', 'b', 'u')]);
  isOver = true;
  expect(new Set(steps.map((step) => step.turn)).size).toBe(steps.length);
  expect(steps.slice(0, 6).map(({ who }) => who[0])).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  const inSpace = steps.map(({ who }) => who).filter((who) => who === 'a1' || who === 'a2');
  expect(inSpace).toEqual(['a1', 'a1', 'a1', 'a2', 'a2', 'a2']);
});

test('a space has no more than 16 of them, a client 8, and those of clients that have gone end', async () => {
  const gone = new AbortController();
  const begin = (client: string) => walk(place('a', 's', client), gone.signal, () => false);
  const endless = Array.from({ length: 8 }, () => begin('one'));
  expect(await codeOf(begin('one'))).toBe('kmip-search-refused');
  endless.push(...Array.from({ length: 8 }, () => begin('two')));
  expect(await codeOf(walk(place('a', 's'), undefined, () => true))).toBe('kmip-search-refused');
  expect(await codeOf(walk(place('a', 't'), undefined, () => true))).toBeUndefined();
  gone.abort();
  await Promise.all(endless);
  expect(await codeOf(walk(place('a', 's'), undefined, () => true))).toBeUndefined();
});
