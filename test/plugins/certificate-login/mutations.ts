// Changed certificates, drawn from a seed: most are signed again after the change, so that nothing but their content is wrong.
import { sign } from 'node:crypto';
import type { Dice } from '../../fuzz/cases.ts';
import { type Node, readTree, writeTree } from './der-tree.ts';

/** Values that mean something somewhere in a certificate, as hexadecimal DER. */
const values: readonly string[] = [
  ...['0101ff', '010101', '010100', '020100', '020101', '0500', '3000', '0400', '0300', '030200ff', '03020780', '03020186', '0403020780'],
  ...['0603551d0f', '0603551d11', '0603551d13', '0603551d1e', '0603551d25', '0604551d2500', '06032a0304', '0603550403', '06032b6570'],
  ...['06082b06010505070301', '06082b06010505070302', '06082a8648ce3d040302', '06082a8648ce3d040303', '06092a864886f70d010105'],
  ...[
    '170d3230303130313030303030305a',
    '170d3439313233313233353935395a',
    '180f32303939303130313030303030305a',
    '180f30303030303030303030303030305a',
  ],
  ...[
    '0c0f64312e6578616d706c652e74657374',
    '130f64312e6578616d706c652e74657374',
    '0c046576696c',
    '820f64312e6578616d706c652e74657374',
    '82046576696c',
  ],
  ...['861e7370696666653a2f2f6578616d706c652e746573742f6e732f7061792f61', '300c0603551d130101ff04023000', '300a06032a03040403020105'],
  ...['300f0603551d130101ff040530030101ff', 'a003020102', 'a003020100', 'a100', '8100', '30090603551d2504023000'],
];

/** Every value of a certificate that can be changed, with the list that has it. */
function placesIn(node: Node): readonly { readonly list: Node[]; readonly at: number }[] {
  const members = node.members ?? [];
  return members.flatMap((member, at) => [{ list: members, at }, ...placesIn(member)]);
}

function changeOne(tree: Node, dice: Dice): void {
  const places = placesIn(tree);
  const { list, at } = dice.pick(places);
  const node = list[at] as Node;
  const value = (): Node => readTree(Buffer.from(dice.pick(values), 'hex'));
  const other = dice.pick(places);
  const ways: readonly (() => unknown)[] = [
    () => list.splice(at, 1),
    () => list.splice(at, 0, structuredClone(node)),
    () => list.splice(at, 1, value()),
    () => list.splice(at + dice.below(2), 0, value()),
    () => (list[at] = structuredClone(other.list[other.at] as Node)),
    () => (node.tag ^= 1 << dice.below(8)),
    () => list.reverse(),
    () => {
      if (node.members !== undefined || node.octets.length === 0) return;
      node.octets = Buffer.from(node.octets);
      node.octets[dice.below(node.octets.length)] = dice.below(256);
    },
    () => {
      if (node.members === undefined) node.octets = Buffer.concat([node.octets, Buffer.from([dice.below(256)])]);
    },
    () => {
      if (node.members === undefined) node.octets = node.octets.subarray(0, dice.below(node.octets.length + 1));
    },
  ];
  dice.pick(ways)();
}

/** Octet strings of extensions hold DER: it is changed as the rest is. */
function openExtensions(node: Node): void {
  for (const member of node.members ?? []) openExtensions(member);
  if (node.tag !== 4 || node.octets.length < 2) return;
  try {
    node.members = [readTree(node.octets)];
  } catch {
    // Other octets.
  }
}

/** A changed certificate. `key`: PEM of the key of its issuer, an EC key with P-256. */
export function changed(certificate: Buffer, key: string, dice: Dice): Buffer {
  if (dice.chance(0.15)) {
    const octets = Buffer.from(certificate);
    octets[dice.below(octets.length)] = dice.below(256);
    return octets;
  }
  const whole = readTree(certificate);
  const [tbs, algorithm] = whole.members as [Node, Node];
  openExtensions(tbs);
  for (let times = 1 + dice.below(2); times > 0; times--) changeOne(tbs, dice);
  // An algorithm that does not fit is told at once: as often as not, the other one is the same.
  if (dice.chance(0.5)) whole.members?.splice(1, 1, tbs.members?.find(({ members }) => members?.[0]?.tag === 6) ?? algorithm);
  if (dice.chance(0.1)) changeOne(whole, dice);
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', writeTree(tbs), key)]);
  const [first, second] = whole.members as [Node, Node];
  return writeTree({ ...whole, members: [first, second, { tag: 3, octets: signature, members: undefined }] });
}
