// A PKCS#11 module between a host process and SoftHSM2 whose calls go wrong as a test says: built from faulty-module.c, and its table.
import { execFileSync } from 'node:child_process';
import { copyFileSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { TokenConfig } from '../../../hsm/api.ts';
import { madeOnce } from '../once.ts';
import { makeSoftToken, makeSoftTokenForThisProcess } from './softhsm.ts';

/** What may happen to a call, in the order of the module's own list, in which 0 is nothing. `argument` is in brackets. */
const faultKinds = [
  /** fails without having done anything (CK_RV) */
  'refuse',
  /** does its work and says that it failed (CK_RV) */
  'refuse-after',
  /** waits before it does its work (milliseconds) */
  'delay',
  /** ends the process with SIGABRT */
  'crash',
  /** answers with one bit changed (which bit) */
  'flip',
  /** answers zeros */
  'zero',
  /** says that the answer is shorter than it is (by how much) */
  'short',
  /** says that the answer is longer than it is (by how much) */
  'long',
  /** answers the handle that the function gave before */
  'other-handle',
  /** answers a handle that leads nowhere */
  'bad-handle',
  /** closes all sessions of the process first, and with them ends the login */
  'lose-sessions',
  /** what the module behind it refuses, it refuses with this number (CK_RV) */
  'refuse-as',
  /** of C_GetAttributeValue, as long as it is armed: an attribute that is empty is none that the object has (CK_RV) */
  'absent',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** Calls of `name` pass `before` times, then the fault strikes `times` times. */
export type Fault = {
  readonly name: string;
  readonly kind: FaultKind;
  readonly argument?: number;
  readonly before?: number;
  readonly times?: number;
};

const offsets = { armed: 0, kind: 4, argument: 8, before: 12, times: 16, struck: 20, name: 24 } as const;
const nameBytes = 32;

/** The table that all processes with the module read: one fault at a time. */
export class FaultTable {
  readonly path: string;
  readonly #file: number;

  /** Makes the file, without a fault. */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'w+', 0o600);
    this.#write(offsets.armed, Buffer.alloc(offsets.name + nameBytes));
  }

  arm({ name, kind, argument = 0, before = 0, times = 1 }: Fault): void {
    this.disarm();
    const row = Buffer.alloc(offsets.name + nameBytes);
    row.writeUInt32LE(faultKinds.indexOf(kind) + 1, offsets.kind);
    row.writeUInt32LE(argument, offsets.argument);
    row.writeInt32LE(before, offsets.before);
    row.writeInt32LE(times, offsets.times);
    row.write(name, offsets.name);
    this.#write(offsets.armed, row);
    this.#write(offsets.armed, Buffer.of(1, 0, 0, 0));
  }

  disarm(): void {
    this.#write(offsets.armed, Buffer.alloc(4));
  }

  /** How often the fault struck since it was armed. */
  get struck(): number {
    const count = Buffer.alloc(4);
    readSync(this.#file, count, 0, 4, offsets.struck);
    return count.readUInt32LE();
  }

  #write(offset: number, octets: Buffer): void {
    writeSync(this.#file, octets, 0, octets.length, offset);
  }
}

export type FaultyToken = { readonly token: TokenConfig; readonly table: FaultTable };

/** A prepared token below the directory behind the faulty module, for host processes. */
export async function makeFaultyToken(directory: string): Promise<FaultyToken> {
  return behindFaults(await makeSoftToken(directory), directory);
}

/** A token behind the faulty module, whose table is below the directory. */
export async function behindFaults(token: TokenConfig, directory: string): Promise<FaultyToken> {
  const table = new FaultTable(join(directory, 'faults'));
  return { table, token: behind(token, await builtModule(), table) };
}

/** The same for a test that loads the module into its own process: see makeSoftTokenForThisProcess. */
export async function makeFaultyTokenForThisProcess(directory: string): Promise<FaultyToken> {
  const token = await makeSoftTokenForThisProcess(directory);
  const table = new FaultTable(join(directory, 'faults'));
  const library = join(directory, moduleName);
  copyFileSync(await builtModule(), library);
  const faulty = behind(token, library, table);
  for (const [name, value] of Object.entries(faulty.environment ?? {})) vi.stubEnv(name, value);
  return { table, token: faulty };
}

/** The name says SoftHSM: its files are kept as those of SoftHSM itself. */
const moduleName = 'libsofthsm2-faulty.so';

/** Compiled once in a run, with the headers that the binding brings. */
async function builtModule(): Promise<string> {
  const directory = await madeOnce('faulty-module', async (at) => {
    const headers = join(import.meta.dirname, '../../../node_modules/pkcs11js/includes');
    const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-I', headers];
    execFileSync('cc', [...flags, '-o', join(at, moduleName), join(import.meta.dirname, 'faulty-module.c'), '-ldl']);
  });
  return join(directory, moduleName);
}

function behind(token: TokenConfig, module: string, table: FaultTable): TokenConfig {
  const environment = { ...token.environment, KEYSTORED_FAULTY_REAL: token.module, KEYSTORED_FAULTY_TABLE: table.path };
  return { ...token, module, environment };
}
