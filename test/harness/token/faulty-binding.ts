// Loaded into a host process (NODE_OPTIONS --import): makes calls of the binding slow, hang or fail, as a file says that the test writes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import pkcs11js from 'pkcs11js';

/** Wait so long, then fail with this CK_RV (or go on when there is none). `firstHost`: only in the first host that reaches it. */
export type Fault = { readonly delayMilliseconds?: number; readonly rv?: number; readonly firstHost?: true };

/** By PKCS#11 function. */
export type Faults = Readonly<Record<string, Fault>>;

const variable = 'KEYSTORED_TEST_FAULTS';

/** The environment for a token whose host reads its faults from `file`; an absent file means no faults. */
export function faultyEnvironment(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${pathToFileURL(import.meta.filename).href}`, [variable]: file };
}

/** The file that exists once a host has reached the fault in this function. */
export function markOf(file: string, name: string): string {
  return `${file}.${name}`;
}

const file = process.env[variable];
if (file !== undefined) dress(file);

function dress(path: string): void {
  const Real = pkcs11js.PKCS11;
  // The binding defines its functions on each object, so each new object is patched.
  pkcs11js.PKCS11 = class extends Real {
    constructor() {
      super();
      const functions = this as unknown as Record<string, (...inputs: unknown[]) => unknown>;
      for (const name of Object.keys(functions).filter((key) => key.startsWith('C_')))
        functions[name] = faulty(path, name, functions[name]);
    }
  };
}

function faulty(path: string, name: string, real: ((...inputs: unknown[]) => unknown) | undefined) {
  return function (this: unknown, ...inputs: unknown[]): unknown {
    const fault = faultsIn(path)[name];
    const mark = markOf(path, name);
    if (fault !== undefined && !existsSync(mark)) writeFileSync(mark, String(process.pid));
    if (fault?.firstHost === true && readFileSync(mark, 'utf8') !== String(process.pid)) return real?.apply(this, inputs);
    if (fault?.delayMilliseconds !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fault.delayMilliseconds);
    if (fault?.rv !== undefined) throw Object.assign(new Error(`CKR_INJECTED:${fault.rv}`), { code: fault.rv });
    return real?.apply(this, inputs);
  };
}

function faultsIn(path: string): Faults {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Faults;
  } catch {
    return {};
  }
}
