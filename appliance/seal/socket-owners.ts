// Finds the user of a TCP socket of this machine in the tables of the kernel (proc_net(5)), which are long where there are many connections.
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Address } from '../../core/base/addresses.ts';

export type Endpoint = readonly [address: Address, port: number];

/** TCP_ESTABLISHED */
const established = '01';
/** After a reading, nine times as long without one: unauthenticated callers can ask, and the kernel holds up others that open connections meanwhile. */
const restTimes = 9;

const tables = [
  ['tcp', 1],
  ['tcp6', 4],
] as const;
type TableName = (typeof tables)[number][0];

/** A reading of the tables, and the connections of those who wait for it. */
type Reading = { readonly wanted: Set<string>; readonly lines: Promise<ReadonlyMap<string, string>> };

/** Reads the tables once for all who wait, outside of this thread, and at most a tenth of the time. */
export class SocketOwners {
  readonly #read: (table: TableName) => Promise<string>;
  /** the reading that has not begun yet: it will have the sockets of those who ask now */
  #next: Reading | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(read: (table: TableName) => Promise<string> = readTable) {
    this.#read = read;
  }

  /**
   * The user whose TCP socket is connected from `own` to `other`, by number; undefined when no socket of this machine is. Waits for the
   * next reading.
   */
  async ownerOf(own: Endpoint, other: Endpoint): Promise<number | undefined> {
    const connections = tables.flatMap(([, words]) => formatConnection(own, other, words) ?? []);
    this.#next ??= this.#readInTurn();
    for (const connection of connections) this.#next.wanted.add(connection);
    const lines = await this.#next.lines;
    const line = connections.map((connection) => lines.get(connection)).find((found) => found !== undefined);
    const [, , , state, , , , user, , inode] = line?.split(/\s+/) ?? [];
    // A socket that its program has closed has no owner, which the table writes as root.
    return state === established && inode !== '0' ? Number(user) : undefined;
  }

  #readInTurn(): Reading {
    const wanted = new Set<string>();
    const reading = this.#last.then(async () => {
      this.#next = undefined;
      const beganMs = performance.now();
      const texts = await Promise.all(tables.map(([table]) => this.#read(table)));
      const lines = new Map(tables.flatMap(([, words], index) => findLines(texts[index] ?? '', words, wanted)));
      return { lines, restMs: restTimes * (performance.now() - beganMs) };
    });
    this.#last = reading.then(({ restMs }) => setTimeout(restMs));
    return { wanted, lines: reading.then(({ lines }) => lines) };
  }
}

/** The lines of the wanted connections, from their first field on: a look at each line, however many are wanted. */
function findLines(text: string, words: number, wanted: ReadonlySet<string>): (readonly [connection: string, line: string])[] {
  const found: (readonly [string, string])[] = [];
  const length = 2 * (8 * words + ':0000'.length) + 1;
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    const begin = text.indexOf(': ', at) + 2;
    const connection = text.slice(begin, begin + length);
    if (wanted.has(connection)) found.push([connection, text.slice(begin - 2, end)]);
  }
  return found;
}

/** Reads a table of the kernel; empty if it does not exist: without IPv6, or on another system. */
function readTable(table: TableName): Promise<string> {
  return readFile(`/proc/self/net/${table}`, 'latin1').catch(() => '');
}

/** As the table has it; undefined in a table that cannot have it. */
function formatConnection(own: Endpoint, other: Endpoint, words: 1 | 4): string | undefined {
  const [local, remote] = [formatEndpoint(own, words), formatEndpoint(other, words)];
  return local === undefined || remote === undefined ? undefined : `${local} ${remote}`;
}

/** Words of 32 bits as the machine reads them. An IPv4 address has a form in the table of IPv6 as well. */
function formatEndpoint([{ bits, value }, port]: Endpoint, words: 1 | 4): string | undefined {
  if (bits === 128 && words === 1) return undefined;
  const whole = bits === 32 && words === 4 ? (0xffffn << 32n) | value : value;
  const octets = Buffer.from(whole.toString(16).padStart(8 * words, '0'), 'hex');
  if (endianness() === 'LE') octets.swap32();
  return `${octets.toString('hex').toUpperCase()}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
