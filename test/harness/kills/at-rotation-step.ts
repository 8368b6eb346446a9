// Loaded before the program into each process of an appliance (--import): notes what it does for a rotation of the wrapping key, and kills
// before or after one of these steps. A step is a transaction of the shared store about own keys, an own or transport key that is made or
// destroyed in the token, or the key of the store replaced on the disk. KILLS_ROTATION names the file of the notes, a line for each step.
import fs, { appendFileSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/** What is killed: everything that the appliance has started, or the process that does the step. */
export type Victim = 'appliance' | 'process';

/** The `count`th step of that name since the notes were emptied, and whether it is done when the victim is killed. */
export type Armed = { readonly moment: Moment; readonly step: string; readonly count: number; readonly victim: Victim };
export type Moment = 'before' | 'after';

/** Where `Armed` stands, and where a kill is noted, beside the notes. */
export const armedFile = (notes: string): string => `${notes}.armed`;
export const struckFile = (notes: string): string => `${notes}.struck`;

const { KILLS_ROTATION: notes } = process.env;
/** The first process leads the group; the others inherit its id. A test that imports the types is none of them. */
const group = notes === undefined ? undefined : Number((process.env['KILLS_GROUP'] ??= String(process.pid)));
/** Without its ending: the sources and the bundle differ in it. */
const program = basename(process.argv[1] ?? '').replace(/\.[jt]s$/, '');

if (notes !== undefined) await watch(notes);

async function watch(file: string): Promise<void> {
  if (program === 'follower') await watchTransactions(file);
  // A host has its own keys destroyed by a thread, which is a program of its own.
  if (['host', 'lane', 'setup-task'].includes(program)) await watchToken(file);
  if (program === 'worker') watchStoreKey(file);
}

/** Returns what notes the end of the step. */
function begin(file: string, step: string): () => void {
  appendFileSync(file, `${step}\n`);
  const count = readFileSync(file, 'utf8').split('\n').filter((line) => line === step).length; // prettier-ignore
  strike(file, { moment: 'before', step, count });
  return () => strike(file, { moment: 'after', step, count });
}

function strike(file: string, now: Omit<Armed, 'victim'>): void {
  const armed = readArmed(file);
  if (armed === undefined || armed.moment !== now.moment || armed.step !== now.step || armed.count !== now.count) return;
  // Once: an appliance that is started again reads the same.
  fs.renameSync(armedFile(file), struckFile(file));
  if (armed.victim === 'appliance' && group !== undefined) process.kill(-group, 'SIGKILL');
  // A task of the token is a group of its own.
  process.kill(process.pid, 'SIGKILL');
}

function readArmed(file: string): Armed | undefined {
  try {
    return JSON.parse(readFileSync(armedFile(file), 'utf8')) as Armed;
  } catch {
    return undefined;
  }
}

/** Tables of the shared store that a rotation, a carrying and a removal are about, and the keys that all appliances open. */
const watched =
  /^keystored\/(?:r\/(wrapping-keys|wrapping-carryings|wrapping-carrying-parts|cluster-guests|store-key-copies|appliances)\0|(keys)$)/;

async function watchTransactions(file: string): Promise<void> {
  const { Client } = await import('@grpc/grpc-js');
  type Request = {
    readonly success?: readonly { readonly request_put?: { key: Uint8Array }; readonly request_delete_range?: { key: Uint8Array } }[];
  };
  type Answered = (error: unknown, answer?: { readonly succeeded?: boolean }) => void;
  type Ask = (this: unknown, path: string, ...rest: [...unknown[], Answered]) => unknown;
  const calls = Client.prototype as unknown as Record<'makeUnaryRequest', Ask>;
  const original = calls.makeUnaryRequest;
  const ask: Ask = function (this: unknown, path, ...rest) {
    const [, , request] = rest as unknown as [unknown, unknown, Request];
    const tables = (request?.success ?? []).flatMap(({ request_put: put, request_delete_range: removed }) => {
      const [, table, keys] = watched.exec(Buffer.from((put ?? removed)?.key ?? []).toString('latin1')) ?? [];
      const name = table ?? keys;
      return name === undefined ? [] : [put === undefined ? `removes ${name}` : `puts ${name}`];
    });
    if (!path.endsWith('/Txn') || tables.length === 0) return original.call(this, path, ...rest);
    const end = begin(file, `transaction ${[...new Set(tables)].sort().join(', ')}`);
    const answered = rest.at(-1) as Answered;
    const watching: Answered = (error, answer) => {
      if (answer?.succeeded === true) end();
      answered(error, answer);
    };
    return original.call(this, path, ...rest.slice(0, -1), watching);
  };
  calls.makeUnaryRequest = ask;
}

type Attribute = { readonly type: number; readonly value?: unknown };
type Calls = Record<string, (...inputs: unknown[]) => unknown>;

/** Where a call that makes an object has its template. */
const making = { C_GenerateKey: 2, C_GenerateKeyPair: 3, C_UnwrapKey: 4, C_CreateObject: 1 } as const;
const ownLabel = /^keystored-(?:wrapping|binding|transport)-key$/;

async function watchToken(file: string): Promise<void> {
  const { default: pkcs11js } = await import('pkcs11js');
  const { CKA_TOKEN, CKA_LABEL } = pkcs11js;
  const nameOf = (attributes: readonly Attribute[]): string | undefined => {
    const find = (type: number): unknown => attributes.find((attribute) => attribute.type === type)?.value;
    const [isKept, label] = [find(CKA_TOKEN), find(CKA_LABEL)];
    const name = Buffer.isBuffer(label) ? label.toString() : String(label);
    return (Buffer.isBuffer(isKept) ? isKept[0] === 1 : isKept === true) && ownLabel.test(name) ? name : undefined;
  };
  const Real = pkcs11js.PKCS11;
  // The binding defines its functions on each object, so each new object is patched.
  pkcs11js.PKCS11 = class extends Real {
    constructor() {
      super();
      const calls = this as unknown as Calls;
      const around = (call: string, stepOf: (inputs: readonly unknown[]) => string | undefined): void => {
        const real = calls[call] as (...inputs: unknown[]) => unknown;
        calls[call] = (...inputs) => {
          const step = stepOf(inputs);
          const end = step === undefined ? undefined : begin(file, step);
          const result = real.apply(this, inputs);
          end?.();
          return result;
        };
      };
      for (const [call, place] of Object.entries(making)) {
        around(call, (inputs) => {
          const name = nameOf(inputs[place] as readonly Attribute[]);
          return name && `token gets ${name}`;
        });
      }
      around('C_DestroyObject', ([session, object]) => {
        const asked = [{ type: CKA_TOKEN }, { type: CKA_LABEL }];
        const name = nameOf(this.C_GetAttributeValue(session as Buffer, object as Buffer, asked));
        return name && `token loses ${name}`;
      });
    }
  };
}

function watchStoreKey(file: string): void {
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    const end = String(to).endsWith('/store-key.json') ? begin(file, 'disk gets the key of the store') : undefined;
    renameSync(from, to);
    end?.();
  };
  syncBuiltinESMExports();
}
