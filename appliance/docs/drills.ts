// Results of the long drills as their file has them, and the page of them: a drill writes its entry, `npm run generate docs` the page.
import { z } from 'zod';

/** Every drill of which a result can be kept, and its purpose in words. */
export const drills = {
  'kills/processes': 'kills of workers and token processes under a storm of every kind of change and use',
  'kills/daemons': 'kills of whole appliances under the same storm',
  'kills/rotations': 'kills during rotations of the wrapping key',
  'kills/starts': 'kills at random moments of first starts, restores and updates',
  'kills/steps': 'a kill at each step of a first start, a restore, a migration and a rotation',
  'kills/processes, daemons and starts': 'the three in one run',
  'power-cuts/storms': 'losses of power under the same storm: what was not synced is dropped, torn and reordered',
  'power-cuts/starts': 'losses of power in first starts, restores and updates',
  'power-cuts/storms and starts': 'the two in one run',
  'power-cuts/lies':
    'a loss of power after a sync that lied: all is there (whole), the next start says what is missing (said) or refuses with its reason, or the last ' +
    'records of a chain are missing, of which nothing else knows (unseen)',
  'image/cuts': 'mains of a booted image that fail right after the answer to a change',
  'image/first start': 'mains that fail in a first start of the image',
  'disk-faults/requests': 'a failing call of the operating system at each place of each request',
  'disk-faults/starts': 'failing calls of the operating system in starts',
  'hsm-faults/token': 'faults of the module between token process and token; half of them with check-answers',
  'hsm-faults/daemon': 'such faults under a whole appliance',
  'cluster/etcd': 'faults of three appliances over an etcd that is cut off, stopped and killed',
  'cluster/shared token': 'faults of three appliances that run etcd themselves and share a token, up to four at a time',
  'cluster/own tokens': 'the same with a token in each, at three sites',
  'cluster/each kind once': 'a fault of each kind, with a shared token and with a token in each, and 4 ms between these',
  'token-groups': 'kills while a token is brought into a group',
  steady: 'hours of mixed load beside rotations, backups, renewals and a clock that is set: nothing may grow',
  'fuzz/requests': 'hostile requests with three identities',
  'fuzz/streams': 'raw streams without a credential at both ports',
  'parsers/blind': 'changed inputs at the parsers of DER, PEM, OpenPGP, JSON, YAML, backups and audit trails',
  'parsers/guided': 'changed inputs, half of them drawn by what others reached',
  keys: 'broken keys, certificates and requests beside a connection of somebody else',
  'enrolment-rush/token processes': 'devices that enrol by SCEP, EST, CMP and ACME at once while processes of the token are killed',
  'enrolment-rush/members': 'the same at three appliances, one of which is killed',
  'cmp messages': 'changed messages of CMP at an appliance, with whole and with broken protection',
  'handshake-burst': 'devices and management requests that connect at once',
  'timing/login': 'the time of a refused login, by what is right of it (Welch’s t)',
  'timing/token': 'the time of a refused token, by how much is right of it',
  'timing/policy': 'the time of a refusal by policy, by whether the thing exists',
  'timing/tenant': 'the time of a refusal, by whether another tenant has such a thing',
} as const;

export type DrillName = keyof typeof drills;

/** Numbers by what they count, with the unit in the name. */
const figures = z.record(z.string(), z.number());
export type DrillFigures = z.output<typeof figures>;

const result = z.strictObject({
  /** repeats what is drawn, not when the machine does it */
  command: z.string(),
  /** absent: the drill draws nothing, or the command names several */
  seed: z.int().optional(),
  /** short hash; with `-dirty` for a tree with changes */
  commit: z.string(),
  on: z.iso.date().optional(),
  /** the first line of what ended the drill; absent: everything held */
  found: z.string().optional(),
  /** ended by hand before all was done */
  stopped: z.literal(true).optional(),
  figures,
});
/** @public */
export type DrillResult = z.output<typeof result>;

const names = Object.keys(drills) as readonly DrillName[];
const results = z.partialRecord(z.enum(names), result);
export type DrillResults = z.output<typeof results>;

/** Throws with the entry that is wrong. */
export function parseDrills(text: string): DrillResults {
  return results.parse(JSON.parse(text));
}

/** The file, with its entries in the order of the table above. */
export function formatDrills(kept: DrillResults): string {
  const ordered = names.flatMap((name) => (kept[name] === undefined ? [] : [[name, kept[name]] as const]));
  return `${JSON.stringify(Object.fromEntries(ordered), undefined, 2)}\n`;
}

/** The page: a row for each kept result, and the names of the drills without one. */
export function drillsPage(kept: DrillResults): string {
  const rows = names.flatMap((name) => {
    const one = kept[name];
    if (one === undefined) return [];
    const held = one.stopped === true ? 'held until it was ended by hand' : 'held';
    const outcome = one.found === undefined ? held : `ended with a find: ${one.found}`;
    const at = one.on === undefined ? one.commit : `${one.commit}, ${one.on}`;
    return [`| ${[`**${name}**: ${drills[name]}`, outcome, inWords(one.figures), `\`${one.command}\``, at].map(cell).join(' | ')} |`];
  });
  const without = names.filter((name) => kept[name] === undefined && !/ and /.test(name));
  return [
    '# Results of the drills',
    '',
    '*Generated from `drills.json` by `npm run generate docs`; do not edit.*',
    '',
    'The newest kept result of each drill. *Held* means that it had no find by its rules, which are in [test/README.md](../../../test/README.md).',
    'The seed in a command repeats what is drawn, not when the machine does it.',
    '',
    '| Drill | Result | Figures | Repeat with | At |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `No result is kept of ${without.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    'A drill writes its entry to `dist/soak/results.json`, also when it ends with a find. To keep it here:',
    '',
    '> Not run by the tests: drills take hours.',
    '',
    '```sh',
    'DRILL_RESULTS=appliance/docs/understand/drills.json npm run soak -- steady',
    'npm run generate docs',
    '```',
    '',
  ].join('\n');
}

function inWords(counted: DrillFigures): string {
  return Object.entries(counted)
    .map(([name, value]) => `${name} ${value.toLocaleString('en')}`)
    .join('; ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
