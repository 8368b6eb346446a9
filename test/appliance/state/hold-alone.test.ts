// What one process of an appliance does at a time, by whichever path it knows the data directory.
import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { holdAlone } from '../../../appliance/data-directory/data-directory.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();

test('what is held is refused to others until it is let go of; other things and other appliances are free meanwhile', async () => {
  const [data, other] = [temporary('data'), temporary('other')];
  for (const directory of [data, other]) mkdirSync(directory, { recursive: true });
  symlinkSync(data, temporary('link'));
  const release = await holdAlone(data, 'joining');
  expect(release).toBeDefined();
  expect(await holdAlone(temporary('link'), 'joining')).toBeUndefined();
  const free = await Promise.all([holdAlone(data, 'leaving'), holdAlone(other, 'joining')]);
  expect(free).not.toContain(undefined);
  release?.();
  const again = await holdAlone(data, 'joining');
  expect(again).toBeDefined();
  for (const end of [...free, again]) end?.();
});
