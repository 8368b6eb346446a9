// A machine for each appliance as far as the network goes: name spaces on one bridge, whose packets are dropped, refused or held up in every
// shape by the packet filter and the traffic control of each, or delayed on their way to the bridge. Needs root.
import { spawnSync } from 'node:child_process';
import { type Delay, LateLine } from './late-line.ts';

/** What befalls the packets of one machine: rules of nftables for those that come and those that go. */
export type Shape = { readonly coming?: readonly string[]; readonly going?: readonly string[] };

/** The others of a machine, as nftables writes a set. */
type Peers = string;

const drop = (direction: 'saddr' | 'daddr', peers: Peers, what = ''): string => `ip ${direction} ${peers} ${what} drop`;

/** Shapes of a partition between a machine and `peers`. */
export const shapes = {
  cut: (peers: Peers): Shape => ({ coming: [drop('saddr', peers)], going: [drop('daddr', peers)] }),
  deaf: (peers: Peers): Shape => ({ coming: [drop('saddr', peers)] }),
  mute: (peers: Peers): Shape => ({ going: [drop('daddr', peers)] }),
  /** as `cut`, for connections to one port, from either side */
  port: (peers: Peers, port: number): Shape => ({
    coming: [drop('saddr', peers, `tcp dport ${port}`), drop('saddr', peers, `tcp sport ${port}`)],
    going: [drop('daddr', peers, `tcp dport ${port}`), drop('daddr', peers, `tcp sport ${port}`)],
  }),
  refusing: (peers: Peers): Shape => ({ coming: [`ip saddr ${peers} tcp dport 1-65535 reject with tcp reset`] }),
  losing: (peers: Peers, percent: number): Shape => ({
    coming: [drop('saddr', peers, `numgen random mod 100 < ${percent}`)],
    going: [drop('daddr', peers, `numgen random mod 100 < ${percent}`)],
  }),
  /** also from those that ask it */
  dark: (): Shape => ({ coming: ['iifname "eth0" drop'], going: ['oifname "eth0" drop'] }),
};

const missing = [
  ['ip', '-V'],
  ['nft', '--version'],
  ['tc', '-V'],
  ['unshare', '--net', 'true'],
].filter(([command = '', ...args]) => spawnSync(command, args).status !== 0);

/** Whether this process may make name spaces. */
export const mayMakeSpaces = process.getuid?.() === 0 && missing.length === 0;

/** Machines 0 to `count`, all reached from this process. */
export class Spaces {
  readonly #run = `ks${process.pid % 1_000_000}`;
  /** of the range that is for tests between networks (RFC 2544) */
  readonly #subnet = `198.${18 + (process.pid & 1)}.${(process.pid >> 1) % 256}`;
  /** where the bridge is */
  readonly hub = `${this.#run}-hub`;
  readonly #count: number;
  readonly #shapes = new Map<number, Set<Shape>>();
  readonly #narrowed = new Map<number, number>();
  readonly #lines: readonly LateLine[];

  constructor(count: number) {
    this.#count = count;
    run('ip', 'netns', 'add', this.hub);
    run('ip', '-n', this.hub, 'link', 'add', 'bridge', 'type', 'bridge');
    run('ip', '-n', this.hub, 'link', 'set', 'bridge', 'up');
    run('ip', '-n', this.hub, 'link', 'add', 'callers', 'master', 'bridge', 'type', 'veth', 'peer', 'name', this.#run, 'netns', '1');
    run('ip', '-n', this.hub, 'link', 'set', 'callers', 'up');
    run('ip', 'addr', 'add', `${this.#subnet}.1/24`, 'dev', this.#run);
    run('ip', 'link', 'set', this.#run, 'up');
    for (let index = 0; index < count; index++) {
      const space = this.#space(index);
      run('ip', 'netns', 'add', space);
      run(
        'ip',
        '-n',
        this.hub,
        'link',
        'add',
        `port-${index}`,
        ...['master', 'bridge', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space],
      );
      run('ip', '-n', this.hub, 'link', 'set', `port-${index}`, 'up');
      run('ip', '-n', space, 'addr', 'add', `${this.address(index)}/24`, 'dev', 'eth0');
      for (const one of ['lo', 'eth0']) run('ip', '-n', space, 'link', 'set', one, 'up');
    }
    const set = (name: string, ...words: readonly string[]): string => run('ip', '-n', this.hub, 'link', 'set', name, ...words);
    this.#lines = Array.from(
      { length: count },
      (_, index) =>
        new LateLine({
          ...{ port: `port-${index}`, tap: `late-${index}`, within: ['ip', 'netns', 'exec', this.hub] },
          enter: (name) => void set(name, 'master', 'bridge', 'up'),
          leave: (name) => void set(name, 'nomaster'),
        }),
    );
  }

  address(index: number): string {
    return `${this.#subnet}.${10 + index}`;
  }

  /** Words before the command of a process that is to run there. */
  within(index: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#space(index)];
  }

  /** All others of a machine. */
  peersOf(index: number): string {
    const others = Array.from({ length: this.#count }, (_, n) => n).filter((n) => n !== index);
    return `{ ${others.map((one) => this.address(one)).join(', ')} }`;
  }

  /** Has a shape befall a machine, beside those that do already; answers how to end it. */
  impose(index: number, shape: Shape): () => void {
    const present = this.#shapes.get(index) ?? new Set();
    this.#shapes.set(index, present.add(shape));
    this.#filter(index);
    return () => {
      present.delete(shape);
      this.#filter(index);
    };
  }

  /** Packets that the machine sends wait in a queue, `delayMs` at most, and are lost beyond it; answers how to end it. */
  narrow(index: number, kilobits: number, delayMs: number): () => void {
    const tc = (...args: readonly string[]): string => run('tc', '-n', this.#space(index), 'qdisc', ...args);
    tc('replace', 'dev', 'eth0', 'root', 'tbf', 'rate', `${kilobits}kbit`, 'burst', '4kb', 'latency', `${delayMs}ms`);
    this.#narrowed.set(index, (this.#narrowed.get(index) ?? 0) + 1);
    // Of several at a time the last one's rate counts, until all have ended.
    return () => {
      const left = (this.#narrowed.get(index) ?? 0) - 1;
      this.#narrowed.set(index, left);
      if (left === 0) tc('del', 'dev', 'eth0', 'root');
    };
  }

  /** Has what the machine sends and receives delayed, its callers' too; resolves with how to end it. */
  delay(index: number, delay: Delay): Promise<() => Promise<void>> {
    const line = this.#lines[index];
    if (line === undefined) throw new Error(`there is no machine ${index}`);
    return line.delay(delay);
  }

  remove(): void {
    for (const line of this.#lines) line.end();
    for (let index = 0; index < this.#count; index++) spawnSync('ip', ['netns', 'del', this.#space(index)]);
    spawnSync('ip', ['netns', 'del', this.hub]);
    spawnSync('ip', ['link', 'del', this.#run]);
  }

  #space(index: number): string {
    return `${this.#run}-${index}`;
  }

  #filter(index: number): void {
    const present = [...(this.#shapes.get(index) ?? [])];
    const chain = (name: string, hook: string, rules: readonly string[]): string[] => [
      ...[`chain ${name} {`, `type filter hook ${hook} priority 0`, ...rules, '}'],
    ];
    const coming = chain(
      'coming',
      'input',
      present.flatMap((shape) => shape.coming ?? []),
    );
    const going = chain(
      'going',
      'output',
      present.flatMap((shape) => shape.going ?? []),
    );
    const rules = ['table inet storm', 'delete table inet storm', 'table inet storm {', ...coming, ...going, '}', ''].join('\n');
    const { status, stderr } = spawnSync('ip', [...this.within(index).slice(1), 'nft', '-f', '-'], { input: rules, encoding: 'utf8' });
    if (status !== 0) throw new Error(`nft: ${stderr}${rules}`);
  }
}

function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
