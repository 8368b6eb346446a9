// Fills the tables of performance.md from the figures of the benchmark: only the text between two marks is generated.
import type { Circumstances, Figures, PartName } from './figures.ts';
import { operationName, readable, rowsAt, showPicture } from './pictures.ts';

/** Text in place of missing figures: the command that makes them. */
const notMeasured =
  'Not measured yet: `npm run bench -- PART --json appliance/docs/administer/performance/figures.json`, then `npm run generate docs`.';

/** Text of each block, by the name in its marks. */
const blocks: Readonly<Record<string, (figures: Figures) => readonly string[]>> = {
  machine: describeMachine,
  'per-core': describePerCore,
  rates: (figures) => withPicture(figures, 'rates', describeRates(figures)),
  latency: (figures) => withPicture(figures, 'latency', describeLatency(figures)),
  'processor-time': (figures) => withPicture(figures, 'processor-time', []),
  keys: (figures) => withPicture(figures, 'keys', describeKeys(figures)),
  'other-work': describeOtherWork,
  memory: (figures) => withPicture(figures, 'memory', describeMemory(figures)),
  cluster: (figures) => withPicture(figures, 'changes', describeCluster(figures)),
};

/** The page with its blocks filled. Throws when a mark has no block, or a block no mark. */
export function fillPage(page: string, figures: Figures): string {
  const used = new Set<string>();
  const filled = page.replaceAll(
    /(<!-- figures: ([a-z-]+) -->\n)[^]*?(<!-- end -->)/g,
    (_whole, begin: string, name: string, end: string) => {
      const block = blocks[name];
      if (block === undefined) throw new Error(`there are no figures named ${name}`);
      used.add(name);
      const lines = block(figures);
      return `${begin}\n${(lines.length === 0 ? [notMeasured] : lines).join('\n')}\n\n${end}`;
    },
  );
  const unused = Object.keys(blocks).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`the page has no place for ${unused.join(', ')}`);
  return filled;
}

function withPicture(figures: Figures, name: string, lines: readonly string[]): readonly string[] {
  const picture = showPicture(figures, name);
  if (picture === '') return lines;
  return lines.length === 0 ? [picture] : [...lines, '', picture];
}

/** Circumstances of the parts, one line for those that were measured alike. */
function describeMachine(figures: Figures): readonly string[] {
  const alike = new Map<string, PartName[]>();
  for (const [name, measured] of Object.entries(figures) as [PartName, Circumstances][]) {
    const line = describe(measured);
    alike.set(line, [...(alike.get(line) ?? []), name]);
  }
  return [...alike].map(([line, names]) => `- ${names.join(', ')}: ${line}`);
}

function describe({ measuredOn, rounds, seconds, machine }: Circumstances): string {
  const { processor, cores, memoryGib, kernel, fileSystem, node, module, openBao } = machine;
  const where = `${cores} cores (${processor}), ${readable(memoryGib)} GiB, Linux ${kernel}, ${fileSystem}`;
  const what = `Node.js ${node}, ${module}${openBao === undefined ? '' : `, OpenBao ${openBao}`}`;
  return `${measuredOn}, ${where}; ${what}; ${counted(rounds, 'round')} of ${seconds} s`;
}

/** Work of a core: a second of processor time divided by that of an operation. */
function describePerCore(figures: Figures): readonly string[] {
  const rows = rowsAt(figures, 64);
  if (rows.length === 0) return [];
  return table(
    ['Operation', 'a second and core', 'µs of processor time', 'of them in token processes'],
    rows.map((row) => {
      const each = row.appliance.micros / row.items;
      return [operationName(row), readable(1e6 / each), readable(each), readable(row.appliance.tokenMicros / row.items)];
    }),
  );
}

function describeRates(figures: Figures): readonly string[] {
  const rows = rowsAt(figures, 64);
  if (rows.length === 0) return [];
  const counts = [1, 16, 64];
  const ratio = (value: number | undefined): string => value?.toFixed(2) ?? '–';
  return table(
    ['Requests a second', ...counts.map((count) => counted(count, 'connection')), ...counts.map((count) => `to OpenBao, ${count}`)],
    rows.map((row) => {
      const others = counts.map((count) => rowsAt(figures, count).find(({ operation }) => operation === row.operation));
      return [
        operationName(row),
        ...others.map((one) => readable(one?.appliance.perSecond ?? 0)),
        ...others.map((one) => ratio(one?.rateToOpenBao)),
      ];
    }),
  );
}

function describeLatency(figures: Figures): readonly string[] {
  return table(
    ['One connection', 'p50 ms', 'p99 ms', 'p50 of echo, disk and token together', 'ratio', 'disk p99 ms'],
    rowsAt(figures, 1).map((row) => {
      const { appliance, echo, disk, token } = row;
      const floor = echo.p50Ms + disk.p50Ms + token.p50Ms * row.items;
      return [
        ...[operationName(row), readable(appliance.p50Ms), readable(appliance.p99Ms)],
        ...[readable(floor), row.latencyToFloor.toFixed(2), readable(disk.p99Ms)],
      ];
    }),
  );
}

function describeKeys(figures: Figures): readonly string[] {
  const rows = [...(figures.keys?.found.rows ?? []), ...(figures.scale?.found.use ?? [])];
  const among = figures.scale?.found;
  const use = table(
    ['Keys used at random', 'of', 'requests a second', 'rate to one key', 'processor time of one key to this'],
    rows.map((row) => [
      ...[
        `${row.used.toLocaleString('en-US')}${row.first === true ? ', each for the first time' : ''}`,
        row.stored.toLocaleString('en-US'),
      ],
      readable(row.appliance.perSecond),
      ...[row.rateToOne.toFixed(2), row.timeToOne.toFixed(2)],
    ]),
  );
  if (among === undefined) return use;
  return [
    ...use,
    '',
    `A start with ${among.keys.toLocaleString('en-US')} keys made its first signature after ${readable(among.startToSignatureMs)} ms.`,
    'Rate of one stream of requests to that in a store of ten keys:',
    '',
    ...table(
      ['', 'action', 'ratio', 'half of the rounds'],
      among.rows.map(({ stream, verb, ratio, quartiles }) => [
        stream,
        verb,
        ratio.toFixed(2),
        quartiles.map((one) => one.toFixed(2)).join(' to '),
      ]),
    ),
  ];
}

/** Less frequent operations: keys made, logins, enrolments, starts. */
function describeOtherWork({ creation, login, est, enrolment, kmip, start }: Figures): readonly string[] {
  const cells = (load: { readonly perSecond: number; readonly p50Ms: number; readonly micros: number }): readonly string[] => [
    ...[readable(load.perSecond), readable(load.p50Ms), readable(load.micros)],
  ];
  const rows = [
    ...(creation?.found.rows ?? []).map((row) => [
      `AES-256 keys ${row.way}, ${counted(row.connections, 'connection')}`,
      ...cells(row.appliance),
    ]),
    ...(login?.found.rows ?? []).map((row) => [`approle logins, ${counted(row.connections, 'connection')}`, ...cells(row.appliance)]),
    ...(est?.found.rows ?? []).map((row) => [
      ...[
        `${row.operation}s, CA with ${row.key}, one worker, ${row.mode === 'kept' ? 'kept connections' : 'a new connection each'}`,
        ...cells(row.appliance),
      ],
    ]),
  ];
  const starting = start?.found;
  return [
    ...table(['Work', 'a second', 'p50 ms', 'µs of processor time'], rows),
    ...(enrolment === undefined
      ? []
      : [
          '',
          ...table(
            ['Enrolments under an RSA-2048 CA', 'server', 'at a time', 'a second', 'p50 ms', 'p99 ms'],
            enrolment.found.rows.map(({ protocol, server, connections, perSecond, p50Ms, p99Ms }) => [
              ...[protocol, server === 'step-ca' ? `step-ca ${enrolment.found.stepCa ?? ''}, software keys` : server],
              ...[String(connections), readable(perSecond), readable(p50Ms), readable(p99Ms)],
            ]),
          ),
        ]),
    ...(kmip === undefined
      ? []
      : [
          '',
          ...table(
            ['KMIP, one client, one request after another', 'objects of the space', 'a second', 'p50 ms', 'p99 ms'],
            kmip.found.rows.map(({ operation, objects, perSecond, p50Ms, p99Ms }) => [
              operation,
              ...[objects.toLocaleString('en'), readable(perSecond), readable(p50Ms), readable(p99Ms)],
            ]),
          ),
        ]),
    ...(starting === undefined
      ? []
      : [
          '',
          `A start, with everything set up, takes ${readable(starting.npm.toReadyMs)} ms to the ready line by \`npm start\`, ` +
            `${readable(starting.appliance.toReadyMs)} ms as a service, and the first signature is made after ` +
            `${readable(starting.npm.toSignatureMs)} and ${readable(starting.appliance.toSignatureMs)} ms.`,
        ]),
  ];
}

function describeMemory({ memory }: Figures): readonly string[] {
  if (memory === undefined) return [];
  const { appliance } = memory.found;
  const sum = (of: (one: (typeof appliance)[number]) => number): string => readable(appliance.reduce((all, one) => all + of(one), 0));
  const rest = sum((one) => one.restMib);
  return [
    `All processes together: ${sum((one) => one.idleMib)} MiB at rest, ${sum((one) => one.loadedMib)} MiB after a load, ${rest} MiB when it is over.`,
    '',
    ...table(
      ['MiB after a load', 'all', 'heap', 'malloc', 'store', 'code', 'ten seconds later'],
      appliance.map(({ process, loadedMib, kinds, restMib }) =>
        [process, loadedMib, kinds.heap, kinds.malloc, kinds.store, kinds.code, restMib].map((cell) =>
          typeof cell === 'string' ? cell : readable(cell),
        ),
      ),
    ),
  ];
}

function describeCluster({ cluster }: Figures): readonly string[] {
  if (cluster === undefined) return [];
  const { keys, foundMs, joinMs, rest, uses, memory, changes, revocations, deaths } = cluster.found;
  const mibOf = (of: 'alone' | 'member'): string => readable(memory[of].reduce((sum, { mib }) => sum + mib, 0));
  const percent = (share: number): string => `${readable(100 * share)} %`;
  return [
    ...table(
      ['Use', 'alone, a second', 'one of three, a second', 'rate', 'µs of processor time alone', 'one of three'],
      uses.map((row) => [
        `${operationName(row)}, ${counted(row.connections, 'connection')}`,
        ...[readable(row.alone.perSecond), readable(row.member.perSecond), row.rateToAlone.toFixed(2)],
        ...[readable(row.alone.micros), readable(row.member.micros)],
      ]),
    ),
    '',
    ...table(
      ['Change (login)', 'alone, a second', 'p50 ms', 'p99 ms', 'three, a second', 'p50 ms', 'p99 ms', 'rate'],
      changes.map(({ callers, alone, three, rateToAlone }) => [
        counted(callers, 'caller'),
        ...[alone, three].flatMap(({ perSecond, p50Ms, p99Ms }) => [readable(perSecond), readable(p50Ms), readable(p99Ms)]),
        rateToAlone.toFixed(2),
      ]),
    ),
    '',
    ...table(
      ['What', 'how long, how much'],
      [
        [
          'a token is revoked while it is used at all three: answer',
          `p50 ${readable(revocations.p50Ms)} ms, at most ${readable(revocations.worstMs)} ms`,
        ],
        [
          `requests accepted that were sent after one of ${revocations.made} such answers`,
          `${revocations.accepted} of ${revocations.asked.toLocaleString('en-US')}`,
        ],
        [
          'the leader is killed: time without changes',
          `${readable(deaths.medianMs)} ms, at most ${readable(deaths.worstMs)} ms of ${deaths.times}`,
        ],
        [`one alone with ${keys.toLocaleString('en-US')} keys becomes the first member`, `${readable(foundMs)} ms`],
        ['another one joins it: start to first answer', `${joinMs.map(readable).join(' and ')} ms`],
        ['processor at rest', `${percent(rest.alone)} of a core alone, ${percent(rest.member)} one of three`],
        ['memory after the uses', `${mibOf('alone')} MiB alone, ${mibOf('member')} MiB one of three with its etcd`],
      ],
    ),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows.map((cells) => `| ${cells.join(' | ')} |`)];
}
