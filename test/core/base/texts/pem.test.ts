// PEM blocks in texts of others.
import { expect, test } from 'vitest';
import { findPemBlocks } from '../../../../core/base/texts/pem.ts';

const block = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----';

test('blocks of the label are found in order, and the rest of the text', () => {
  const other = block.replaceAll('PUBLIC KEY', 'CERTIFICATE');
  expect(findPemBlocks(`one ${block} two ${other} three ${block}`, 'PUBLIC KEY')).toEqual({
    blocks: [block, block],
    rest: `one  two ${other} three `,
  });
  expect(findPemBlocks('', 'PUBLIC KEY')).toEqual({ blocks: [], rest: '' });
});

test('eight million characters of beginnings without an end are read: their square would take hours', () => {
  const text = '-----BEGIN PUBLIC KEY-----\n'.repeat(300_000);
  expect(findPemBlocks(text, 'PUBLIC KEY').blocks).toEqual([]);
  expect(findPemBlocks(text + block, 'PUBLIC KEY').blocks).toEqual([block]);
});
